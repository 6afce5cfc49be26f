// The texts of fields and resources have one home: every form of the description, and every language, has them from there.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  argumentText,
  asMessage,
  fieldText,
  isManaged,
  type Message,
  messageInfo,
  type Operation,
  openapiDocument,
  operations,
  type Resource,
  resources,
  unwrap,
} from "../../schema/index.ts";
import { root } from "../harness/api-process.ts";

const elementOf = (schema: z.ZodType): z.ZodType => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return elementOf(inner.element as z.ZodType);
  return inner instanceof z.ZodRecord ? elementOf(inner.valueType as z.ZodType) : inner;
};

/** Every message that a method reaches, by name; version 1 is left out. */
const messages = new Map<string, Message>();
const reach = (schema: Message): void => {
  const { message = "" } = messageInfo(schema) ?? {};
  if (messages.has(message) || message.includes(".v1.")) return;
  messages.set(message, schema);
  for (const field of Object.values(schema.shape)) {
    const inner = asMessage(elementOf(field));
    if (inner) reach(inner);
  }
};
for (const { request, response } of Object.values<Operation>(operations)) {
  reach(request);
  reach(response);
}

test("every field of the API has a text", () => {
  const fields = [...messages].flatMap(([message, { shape }]) =>
    Object.entries(shape).map(([name, field]) => ({ name: `${message}.${name}`, text: fieldText(field) })),
  );
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter(({ text = "" }) => text === "").map(({ name }) => name)).toEqual([]);
  expect(fields.filter(({ text = "" }) => !/^(uids? |[A-Z`])/.test(text) && !text.startsWith("https "))).toEqual([]);
});

test("every resource that a program can declare says what its own arguments do", () => {
  const kinds = Object.values<Resource>(resources).filter(isManaged);
  expect(kinds.length).toBeGreaterThan(8);
  for (const kind of kinds)
    expect(["adopt", "deleteAdopted", "allowReplace"].map((name) => argumentText(kind, name))).not.toContain(undefined);
});

test("the text of a field is in the .proto files, in OpenAPI, in the schema of the plugin and in each language", () => {
  const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
  const { digest } = resources.tag.schema.shape;
  const text = digest && fieldText(digest);
  expect(text).toBe("Digest of the manifest: `sha256:` and 64 hexadecimal digits");
  expect(read("schema/generated/chainguard/platform/registry/v2beta1/registry.proto")).toContain(`// ${text}\n`);
  const sdks = ["sdk/python/pulumi_irm/tag.py", "sdk/go/irm/tag.go"];
  for (const file of ["plugin/generated/schema.json", ...sdks]) expect(read(file), file).toContain(text);
  expect(JSON.stringify(openapiDocument())).toContain(text);
});
