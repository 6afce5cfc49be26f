// Every message of the served methods: the published behaviours of its fields, whose names, numbers and types are in
// test/contract/descriptor.test.ts. And their texts, which have one home: every form of the description, and every language,
// has them from there.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import type { FieldInfo } from "../../schema/field.ts";
import {
  argumentText,
  asMessage,
  fieldInfo,
  fieldText,
  isManaged,
  type Message,
  messageInfo,
  type Operation,
  openapiDocument,
  operations,
  type Resource,
  resources,
  toSnake,
  unwrap,
} from "../../schema/index.ts";
import { root } from "../harness/api-process.ts";
import { type PublishedField, publishedMessages } from "../support/published.ts";

const messages = new Map<string, Message>();

const walk = (schema: z.ZodType): void => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) walk(inner.element as z.ZodType);
  if (inner instanceof z.ZodRecord) walk(inner.valueType as z.ZodType);
  const message = asMessage(inner);
  const name = messageInfo(inner)?.message;
  if (!message || !name || messages.has(name)) return;
  messages.set(name, message);
  for (const field of Object.values(message.shape)) walk(field);
};
for (const row of Object.values(operations as Record<string, Operation>)) {
  walk(row.request);
  walk(row.response);
}
messages.delete("google.protobuf.Empty");

// The part of a behaviour that matters to a caller: required, and set by the server only.
const behavior = (info: FieldInfo) =>
  info.behavior === "REQUIRED" || info.behavior === "OUTPUT_ONLY" ? info.behavior : "";
const publishedBehavior = ({ flags }: PublishedField) =>
  flags.includes("REQ") ? "REQUIRED" : flags.includes("OUT") ? "OUTPUT_ONLY" : "";

// Where ours has more than the published one: the create needs it, or its description says so.
const REQUIRED = "REQUIRED";
const STRICTER: Record<string, Record<string, string>> = {
  "iam.RoleBinding": { identity_uid: REQUIRED, role_uid: REQUIRED },
  "iam.ExternalGroupRoleMapping": { external_group_id: REQUIRED, role_uid: REQUIRED, scope: REQUIRED },
  "iam.Role": { capabilities: REQUIRED },
};

test.each([...messages])("%s has fields with the published behaviours", (name, { shape }) => {
  const published = publishedMessages.get(name)?.map((field) => [field.name, publishedBehavior(field)]) ?? [];
  const expected = { ...Object.fromEntries(published), ...STRICTER[name] };
  const own = Object.entries(shape).map(([field, schema]) => [toSnake(field), behavior(fieldInfo(schema))]);
  expect(own).toEqual(own.map(([field]) => [field, expected[field as string]]));
});

test("every field of the API has a text", () => {
  const current = [...messages].filter(([message]) => !message.includes(".v1."));
  const fields = current.flatMap(([message, { shape }]) =>
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
