// Writes what published.test.ts compares of the published OpenAPI document, one line for each path and each schema:
//
//   node test/contract/record-openapi.ts DOCUMENT
//
// DOCUMENT is the file that the vendor publishes. Texts, examples and links are no facts, and are left out.
import { readFileSync, writeFileSync } from "node:fs";

type Json = Record<string, unknown>;

const FACTS: ReadonlySet<string> = new Set([
  ...["operationId", "parameters", "in", "name", "required", "requestBody", "responses", "content", "schema", "$ref"],
  ...["type", "format", "enum", "readOnly", "allOf", "items", "additionalProperties", "properties"],
]);

/** Members whose names are of the API. */
const NAMED: ReadonlySet<string> = new Set(["properties", "responses", "content"]);

const factsOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(factsOf);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => FACTS.has(name));
  return Object.fromEntries(members.map(([name, own]) => [name, NAMED.has(name) ? eachOf(own as Json) : factsOf(own)]));
};

const eachOf = (named: Json): Json =>
  Object.fromEntries(Object.entries(named).map(([name, own]) => [name, factsOf(own)]));

/** One line for each member. */
const lines = (named: Json): string =>
  `{\n${Object.entries(named)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(",\n")}\n}`;

const document = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
  paths: Json;
  components: { schemas: Json; responses?: Json };
};
const paths = Object.fromEntries(
  Object.entries(document.paths).map(([path, methods]) => [path, eachOf(methods as Json)]),
);
const { schemas, responses = {} } = document.components;
writeFileSync(
  new URL("fixtures/openapi-v2beta1.json", import.meta.url),
  `{"paths": ${lines(paths)},\n"components": {"responses": ${lines(eachOf(responses))},\n"schemas": ${lines(eachOf(schemas))}}}\n`,
);
