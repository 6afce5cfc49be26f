// Writes what published.test.ts compares of the published OpenAPI document, one line for each path and each schema:
//
//   node test/contract/record-openapi.ts DOCUMENT
//
// DOCUMENT is the file that the vendor publishes. Texts, examples and links are no facts, and are left out. Of an operation that is not
// served, the path and the id are recorded alone.
import { readFileSync, writeFileSync } from "node:fs";
import { openapiDocument } from "../../schema/index.ts";
import { openapiOperations } from "../support/openapi-fact.ts";

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
const { schemas, responses = {} } = document.components;
const served = new Set(openapiOperations(openapiDocument()).map(({ id }) => id));

const operationOf = ({ operationId, ...operation }: Json): Json => {
  if (served.has(operationId as string)) return { operationId, ...operation };
  return { operationId, responses: { default: (operation.responses as Json).default } };
};
const paths = Object.fromEntries(
  Object.entries(document.paths).map(([path, methods]) => [
    path,
    eachOf(Object.fromEntries(Object.entries(methods as Json).map(([name, own]) => [name, operationOf(own as Json)]))),
  ]),
);

/** The names of the schemas that a value refers to, and of those that these refer to. */
const referred = (value: unknown, known = new Set<string>()): Set<string> => {
  for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    if (!known.has(name)) referred(schemas[name], known.add(name));
  return known;
};
const used = referred(paths);
const ours = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
writeFileSync(
  new URL("fixtures/openapi-v2beta1.json", import.meta.url),
  `{"paths": ${lines(paths)},\n"components": {"responses": ${lines(eachOf(responses))},\n"schemas": ${lines(eachOf(ours))}}}\n`,
);
