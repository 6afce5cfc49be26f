// The shape of a policy file, for the reader and, as JSON Schema, for editors. Presets and the API's own rules check the contents of a
// preset or a relationship (check/identity.ts).
import { z } from "zod";
import { asMessage, capabilities, Identity, inputFields, type Message } from "../../schema/index.ts";
import type { Preset } from "../preset/preset.ts";
import { presets } from "../preset/presets.ts";

type JsonSchema = Record<string, unknown>;

/** A value that is checked elsewhere, with its schema for editors. */
const opaque = (schema: JsonSchema) => z.unknown().meta(schema).optional();

/** States the type, because some readers let a schema without one accept anything. */
const withField = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

const presetSchema = ({ title, fields, choice, some }: Preset): JsonSchema => {
  const names = Object.keys(fields);
  const properties = names.map((name) => {
    const { description, type = "string" } = fields[name] as (typeof fields)[string];
    return [name, { type, minLength: type === "string" ? 1 : undefined, description }];
  });
  const among = [...(choice ?? []), ...(some ?? [])];
  return {
    description: `${title}; * matches any characters except / and :`,
    type: "object",
    properties: Object.fromEntries(properties),
    required: names.filter((name) => !fields[name]?.optional && !among.includes(name)),
    additionalProperties: false,
    oneOf: choice?.map(withField),
    anyOf: some?.map(withField),
  };
};

/** Relationships that are written as in an Identity. */
export const RAW_RELATIONSHIPS = ["claimMatch", "staticKeys", "awsIdentity"] as const;
export type RawRelationship = (typeof RAW_RELATIONSHIPS)[number];

export const relationshipMessage = (name: RawRelationship): Message =>
  asMessage(Identity.shape[name] as z.ZodType) as Message;

const relationshipSchema = (name: RawRelationship): JsonSchema => {
  const message = relationshipMessage(name);
  const fields = inputFields(message);
  const input = z.object(Object.fromEntries(fields.map((field) => [field, message.shape[field] as z.ZodType])));
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return { ...schema, additionalProperties: false, description: `${name}, as in Identity` };
};

const text = z.string();
const inGroup = text.optional().describe("path of its group, such as platform/registry; default: the organization");
const name = text.optional().describe("name of the record; default: the key");
const description = text.optional().describe("one line, at most 512 characters");
const was = text.optional().describe("the key that it had before: the record keeps its uid");

const Group: z.ZodObject = z.strictObject({
  name,
  was,
  description,
  get groups(): z.ZodType {
    return Groups.optional();
  },
});

const Groups = z.record(text, Group.nullable()).nullable().describe("the groups below, by name");

const Identities = z.record(
  text,
  z.strictObject({
    in: inGroup,
    name,
    was,
    description,
    ...Object.fromEntries(Object.entries(presets).map(([word, preset]) => [word, opaque(presetSchema(preset))])),
    ...Object.fromEntries(RAW_RELATIONSHIPS.map((word) => [word, opaque(relationshipSchema(word))])),
  }),
);

const names = capabilities.map((one) => one.name).sort();

const Roles = z.record(
  text,
  z.strictObject({
    in: inGroup,
    name,
    was,
    description,
    can: z
      .array(text)
      .meta({ type: "array", minItems: 1, items: { enum: names }, description: "what the role grants" })
      .optional(),
  }),
);

const Access = z.record(text, z.record(text, z.array(text).describe("keys of identities")).nullable());

const oneCapability: JsonSchema = {
  anyOf: [{ enum: names }, { type: "string", pattern: "\\*" }],
};
const someCapabilities: JsonSchema = {
  description: "one or several, also with * for any characters: *.create",
  anyOf: [oneCapability, { type: "array", minItems: 1, items: oneCapability }],
};
const place: JsonSchema = { type: "string", description: "path of a group: what holds there; default: anywhere" };
const denialSchema: JsonSchema = {
  type: "object",
  properties: { capability: someCapabilities, at: place },
  required: ["capability"],
  additionalProperties: false,
};
const workloadSchema: JsonSchema = {
  description: "tokens like these: a preset, claimMatch or awsIdentity",
  type: "object",
  properties: Object.fromEntries([
    ...Object.entries(presets).map(([word, preset]) => [word, presetSchema(preset)]),
    ...(["claimMatch", "awsIdentity"] as const).map((word) => [word, relationshipSchema(word)]),
  ]),
  additionalProperties: false,
};

const denials = [oneCapability, denialSchema];

const Test = z.strictObject({
  name: text.describe("what must hold, as a sentence"),
  capability: opaque(someCapabilities),
  only: z
    .array(text)
    .optional()
    .describe("identities that may have the capability: keys of the policy, or names with their group"),
  identity: text.optional().describe("a key of the policy, or a name with its group, such as platform/release"),
  workload: opaque(workloadSchema),
  can: opaque(someCapabilities),
  at: text.optional().describe(place.description as string),
  ever: z
    .boolean()
    .optional()
    .describe("true: cannot and only are also about what could be reached by requests, as irm access paths finds it"),
  cannot: opaque({ anyOf: [...denials, { type: "array", items: { anyOf: denials } }] }),
});

/** check/test.ts finds other mistakes of a test. */
const TestsShape = z.array(Test).nullable().optional().describe("what must hold of access");
const People = z.record(
  text,
  z
    .strictObject({
      externalGroups: z
        .record(text, z.array(text).describe("roles: built-in ones, or keys of roles"))
        .nullable()
        .optional()
        .describe("roles of the people whose sign-in names this group, by its id at the identity provider"),
    })
    .nullable(),
);

/** After `include` is read: sections that are empty in YAML are null. */
export const PolicyShape = z.strictObject({
  organization: z
    .union([text, z.strictObject({ uid: text }), z.strictObject({ name: text, description })], {
      error: ({ input }) =>
        input === undefined
          ? "is required: the name of the organization, or { uid: … } of one that exists"
          : "must be a name, or a map with uid, or with name and description",
    })
    .describe("name of the organization, or { uid } of one that exists"),
  groups: Groups.optional(),
  identities: Identities.nullable().optional().describe("workloads, by name"),
  roles: Roles.nullable().optional().describe("custom roles, by name"),
  people: People.nullable()
    .optional()
    .describe(
      "roles that people have at the organization, by name of an identity provider of it that the policy does not create",
    ),
  access: Access.nullable()
    .optional()
    .describe("who has which role where: path of a group (/ is the organization), role, identities"),
  tests: TestsShape,
});

/** A file of tests, beside the policy. */
export const TestFileShape = z.strictObject({
  policy: text.optional().describe("the policy, relative to this file; default: access.yaml beside access.tests.yaml"),
  organization: text.optional().describe("name or uid, where there is no policy and several organizations"),
  tests: TestsShape,
});

/** `access.schema.json` of the package. An included file needs no organization. */
export const policySchema = (): JsonSchema =>
  fileSchema(PolicyShape.partial(), {
    title: "Access policy of pulumi-irm",
    description: "Groups, identities, custom roles, and who has which role where.",
  });

/** `access.tests.schema.json` of the package. */
export const testFileSchema = (): JsonSchema =>
  fileSchema(TestFileShape, {
    title: "Tests of access of pulumi-irm",
    description: "Who may do what, and who must not.",
  });

const fileSchema = (shape: z.ZodObject, words: { title: string; description: string }): JsonSchema => {
  const include = z.array(text).optional().describe("further files, relative to this one");
  const { $schema, ...schema } = z.toJSONSchema(shape.extend({ include }), { io: "input" });
  return { $schema, ...words, ...schema };
};
