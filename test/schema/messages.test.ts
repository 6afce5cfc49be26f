// Every message and enum of the served methods, compared with the published ones: names, numbers, types, behaviours, oneofs.
// gRPC and OpenAPI are derived from them. And their texts, which have one home: every form of the description, and every language, has them
// from there.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { enumInfo, type FieldInfo } from "../../schema/field.ts";
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
  scalarInfo,
  toSnake,
  unwrap,
} from "../../schema/index.ts";
import { root } from "../harness/api-process.ts";
import { type PublishedField, publishedEnums, publishedMessages } from "../support/published.ts";

const messages = new Map<string, Message>();
const enums = new Map<string, Readonly<Record<string, number>>>();

const walk = (schema: z.ZodType): void => {
  const inner = unwrap(schema);
  const own = enumInfo(inner);
  if (own) enums.set(own.enum, own.numbers);
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
// Another test covers its 200 values.
enums.delete("capabilities.Capability");

// The last part of a name: `iam.Identity.ClaimMatch` is `Identity.ClaimMatch` in the tables.
const short = (name: string) =>
  name.replace(/^(iam|registry|vulnerabilities|ping|auth|common|oidc|capabilities)\.(v1\.)?/, "");

const typeOf = (schema: z.ZodType): string => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return `[]${typeOf(inner.element as z.ZodType)}`;
  if (inner instanceof z.ZodRecord)
    return `map<${typeOf(inner.keyType as z.ZodType)},${typeOf(inner.valueType as z.ZodType)}>`;
  const named = enumInfo(inner)?.enum ?? messageInfo(inner)?.message;
  if (named) return short(named);
  const scalar = scalarInfo(inner)?.scalar;
  if (scalar)
    return { timestamp: "Timestamp", fieldMask: "FieldMask", duration: "Duration" }[scalar as string] ?? scalar;
  return inner instanceof z.ZodBoolean ? "bool" : "string";
};

// The part of a behaviour that matters to a caller: required, and set by the server only.
const behavior = (info: FieldInfo) =>
  info.behavior === "REQUIRED" || info.behavior === "OUTPUT_ONLY" ? info.behavior : "";
const publishedBehavior = ({ flags }: PublishedField) =>
  flags.includes("REQ") ? "REQUIRED" : flags.includes("OUT") ? "OUTPUT_ONLY" : "";

// Where ours has more than the published one, and why.
const STRICTER: Record<string, string> = {
  "iam.RoleBinding.identityUid": "on create, the request carries identityUid and roleUid",
  "iam.RoleBinding.roleUid": "on create, the request carries identityUid and roleUid",
  "iam.ExternalGroupRoleMapping.externalGroupId": "the description of the create says to set it",
  "iam.ExternalGroupRoleMapping.roleUid": "the description of the create says to set it",
  "iam.ExternalGroupRoleMapping.scope": "the description of the create says to set it",
  "iam.Role.capabilities": "create needs at least one capability",
};

// Fields that are published and not served yet.
const UNSERVED: Record<string, readonly string[]> = {
  "registry.v1.Repo": ["custom_overlay"],
  "auth.WhoAmI": ["profile"],
};

describe.each([...messages])("%s", (name, schema) => {
  const published = publishedMessages.get(name);

  test("is a published message with all of its fields", () => {
    const fields = Object.keys(schema.shape).map(toSnake);
    const missing = published?.map((field) => field.name).filter((field) => !fields.includes(field));
    expect(missing).toEqual(UNSERVED[name] ?? []);
  });

  test.each(Object.entries(schema.shape))(
    "has %s with the published number, type, behaviour and oneof",
    (field, own) => {
      const expected = published?.find((candidate) => candidate.name === toSnake(field)) as PublishedField;
      const info = fieldInfo(own);
      const stricter = `${name}.${field}` in STRICTER;
      expect({
        number: info.number,
        type: typeOf(own),
        behavior: behavior(info),
        oneof: info.oneof ? `oneof:${info.oneof}` : undefined,
        presence: info.presence ?? false,
      }).toEqual({
        number: expected.number,
        type: expected.type,
        behavior: stricter ? "REQUIRED" : publishedBehavior(expected),
        oneof: expected.flags.find((flag) => flag.startsWith("oneof:")),
        presence: expected.flags.includes("presence"),
      });
    },
  );
});

test.each([...enums])("the enum %s has the published values", (name, numbers) => {
  expect(numbers).toEqual(publishedEnums.get(name));
});

test("the walk saw the messages of every resource", () => {
  expect([...messages.keys()]).toEqual(
    expect.arrayContaining([
      ...["iam.Group", "iam.Identity.StaticKeys", "iam.AccountAssociation.GitHubInstallation", "registry.Tag"],
      ...["vulnerabilities.AdvisoryEvent.Detection.ScanV1", "auth.WhoAmI.Capability", "oidc.RawToken"],
    ]),
  );
  expect(enums.size).toBe(17);
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
