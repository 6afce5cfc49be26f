// The records of `--seed FILE.yaml`: an organisation and what is in it. Groups are named by their path of names from the
// organisation, `""` being the organisation itself. Every problem is told with its line and column, all at once.
import { type Document, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import {
  AccountAssociation,
  Advisory,
  capabilityFrom,
  type FieldViolation,
  Group,
  Identity,
  IdentityProvider,
  inputFields,
  inputViolations,
  isUidp,
  type Json,
  type Message,
  messageFromJson,
  Repo,
  Role,
  Tag,
} from "../schema/index.ts";
import { isBuiltInRole } from "./services/built-in-role.ts";
import { unusableViolations } from "./services/identity.ts";
import { secretViolations } from "./services/identity-provider.ts";
import { readmeViolation } from "./services/readme.ts";
import { internalViolations } from "./services/role.ts";

const record = { name: z.string(), description: z.string().optional() };
const group = z.string().default("");

// The fields that a caller may set, but for some; what is in them is the API's to say.
const fieldsOf = (schema: Message, ...but: string[]): Record<string, z.ZodOptional<z.ZodUnknown>> =>
  Object.fromEntries(
    inputFields(schema)
      .filter((name) => !but.includes(name))
      .map((name) => [name, z.unknown().optional()]),
  );

const ADVISORY_ID = "must be an advisory id such as CGA-xvgw-cvr7-9g2q";

const SeedSchema = z.strictObject({
  organization: z.strictObject({ ...record, verified: z.boolean().optional(), kind: z.string().optional() }),
  groups: z.array(z.strictObject({ ...record, parent: group })).default([]),
  roles: z.array(z.strictObject({ ...record, group, capabilities: z.array(z.string()) })).default([]),
  identities: z
    .array(
      z.strictObject({
        ...record,
        group,
        claimMatch: z.record(z.string(), z.unknown()).optional(),
        staticKeys: z.record(z.string(), z.unknown()).optional(),
        awsIdentity: z.record(z.string(), z.unknown()).optional(),
        servicePrincipal: z.string().optional(),
      }),
    )
    .default([]),
  bindings: z.array(z.strictObject({ identity: z.string(), role: z.string(), group })).default([]),
  identityProviders: z
    .array(z.strictObject({ ...fieldsOf(IdentityProvider), ...record, group, defaultRole: z.string() }))
    .optional(),
  accountAssociations: z.array(z.strictObject({ ...fieldsOf(AccountAssociation), ...record, group })).optional(),
  // Where a repo syncs from is a uid, which no file knows.
  repos: z
    .array(
      z.strictObject({
        ...fieldsOf(Repo, "sync_config"),
        ...record,
        group,
        readme: z.string().optional(),
        tags: z.array(z.strictObject({ ...fieldsOf(Tag), name: z.string() })).optional(),
      }),
    )
    .default([]),
  advisories: z
    .array(
      z.strictObject({
        ...fieldsOf(Advisory),
        group,
        advisoryId: z.string().regex(/^CGA(-[0-9a-z]{4}){3}$/, ADVISORY_ID),
        legacyAdvisoryId: z.string().optional(),
        origin: z.string().optional(),
        createTime: z.unknown().optional(),
        updateTime: z.unknown().optional(),
        deleteTime: z.unknown().optional(),
        severities: z.unknown().optional(),
      }),
    )
    .optional(),
});

export type Seed = z.output<typeof SeedSchema>;

/** `issuer` of a claim match that stands for the development issuer, whose port is not known beforehand. */
export const DEV_ISSUER_WORD = "dev-issuer";

/** A seed file that cannot be used: one line for each problem, `file:line:column: path: text`. */
export class SeedError extends Error {
  override readonly name = "SeedError";
}

// What the schema of a record does not say.
type Further = (value: Json) => FieldViolation[];

type Problem = { path: PropertyKey[]; text: string };

export const parseSeed = (text: string, file: string): Seed => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  if (document.errors.length > 0)
    throw new SeedError(document.errors.map((error) => `${at(error.pos[0])}: ${error.message}`).join("\n"));

  // The nearest node that exists on the way to a path: a missing field is told where its record begins.
  const place = (path: PropertyKey[]): string => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return at(node.range[0]);
    }
    return `${file}:1:1`;
  };
  const parsed = SeedSchema.safeParse(valueIn(document, file));
  const problems: Problem[] = parsed.success
    ? recordProblems(parsed.data)
    : parsed.error.issues.map((issue) => ({ path: [...issue.path], text: issue.message }));
  if (!parsed.success || problems.length > 0)
    throw new SeedError(
      problems.map(({ path, text: told }) => `${place(path)}: ${path.map(String).join(".")}: ${told}`).join("\n"),
    );
  return parsed.data;
};

// Aliases are followed here, and so many of them refused.
const valueIn = (document: Document, file: string): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    throw new SeedError(`${file}:1:1: ${(error as Error).message}`, { cause: error });
  }
};

/** Path of a record of a group: `platform/ci`; of the organisation: `ci`. */
export const seedPath = (parent: string, name: string): string => (parent ? `${parent}/${name}` : name);

// The API's own rules, and that every reference names a record of the file (or a built-in role).
const recordProblems = (seed: Seed): Problem[] => {
  const groups = new Set(["", ...seed.groups.map(({ parent, name }) => seedPath(parent, name))]);
  const identities = new Set(seed.identities.map((identity) => seedPath(identity.group, identity.name)));
  const roles = new Set(seed.roles.map((role) => seedPath(role.group, role.name)));
  const problems = (violations: FieldViolation[], path: PropertyKey[]): Problem[] =>
    violations.map(({ field, description }) => ({
      path: [...path, ...field.replace(/\[(\d+)\]/g, ".$1").split(".")],
      text: description,
    }));
  const rules = (schema: Message, value: Json, path: PropertyKey[], further: Further = () => []): Problem[] =>
    problems([...inputViolations(schema, value), ...further(value)], path);
  // What is not of its type is told before what is not of its rule.
  const recordRules = (schema: Message, json: Json, path: PropertyKey[], further?: Further): Problem[] => {
    const { value, violations } = messageFromJson(schema, json);
    return violations.length > 0 ? problems(violations, path) : rules(schema, value, path, further);
  };
  const missing = (found: boolean, path: PropertyKey[], text: string): Problem[] => (found ? [] : [{ path, text }]);
  const inGroup = (path: string, at: PropertyKey[]): Problem[] =>
    missing(groups.has(path), at, `there is no group ${JSON.stringify(path)} in this file`);
  // Whether a uid is a role's is known by the database alone.
  const isRole = (text: string) => roles.has(text) || isBuiltInRole(text) || isUidp(text);
  const hasRole = (text: string, at: PropertyKey[]): Problem[] =>
    missing(isRole(text), at, `there is no role ${JSON.stringify(text)} in this file, nor is it built in`);
  return [
    ...rules(Group, seed.organization as Json, ["organization"]),
    ...seed.groups.flatMap(({ parent, ...value }, i) => [
      ...rules(Group, value, ["groups", i]),
      ...inGroup(parent, ["groups", i, "parent"]),
    ]),
    ...seed.roles.flatMap((role, i) => [
      ...rules(Role, roleInput(role), ["roles", i], internalViolations),
      ...inGroup(role.group, ["roles", i, "group"]),
    ]),
    ...seed.identities.flatMap((identity, i) => [
      ...rules(Identity, identityInput(identity, "https://issuer.example"), ["identities", i], unusableViolations),
      ...inGroup(identity.group, ["identities", i, "group"]),
    ]),
    ...seed.bindings.flatMap((binding, i) => [
      ...inGroup(binding.group, ["bindings", i, "group"]),
      ...missing(
        identities.has(binding.identity),
        ["bindings", i, "identity"],
        `there is no identity ${JSON.stringify(binding.identity)} in this file`,
      ),
      ...hasRole(binding.role, ["bindings", i, "role"]),
    ]),
    ...(seed.identityProviders ?? []).flatMap(({ group: parent, ...value }, i) => [
      // Any uid: the role is a name here.
      ...recordRules(
        IdentityProvider,
        { ...value, defaultRole: "0".repeat(40) },
        ["identityProviders", i],
        secretViolations,
      ),
      ...hasRole(value.defaultRole, ["identityProviders", i, "defaultRole"]),
      ...inGroup(parent, ["identityProviders", i, "group"]),
    ]),
    ...(seed.accountAssociations ?? []).flatMap(({ group: parent, ...value }, i, all) => [
      ...recordRules(AccountAssociation, value, ["accountAssociations", i]),
      ...inGroup(parent, ["accountAssociations", i, "group"]),
      ...(all.findIndex((other) => other.group === parent) === i
        ? []
        : [{ path: ["accountAssociations", i, "group"], text: "has another account association in this file" }]),
    ]),
    ...seed.repos.flatMap(({ group: parent, tags = [], readme = "", ...value }, i) => [
      ...recordRules(Repo, value, ["repos", i]),
      ...inGroup(parent, ["repos", i, "group"]),
      ...tags.flatMap((tag, k) => recordRules(Tag, tag, ["repos", i, "tags", k])),
      ...[readmeViolation(readme) ?? []].flat().map((text) => ({ path: ["repos", i, "readme"], text })),
    ]),
    ...(seed.advisories ?? []).flatMap(({ group: parent, origin, ...value }, i) => [
      ...recordRules(Advisory, value, ["advisories", i]),
      ...inGroup(parent, ["advisories", i, "group"]),
    ]),
  ];
};

/** A record of the file as the API reads it. */
export const seedRecord = (schema: Message, { group: _, ...json }: Json): Json => messageFromJson(schema, json).value;

/** A role of the file as the API takes it: capabilities by enum name. */
export const roleInput = ({ name, description, capabilities }: Seed["roles"][number]): Json => ({
  name,
  description,
  capabilities: capabilities.map((text) => capabilityFrom(text) ?? text),
});

export const identityInput = (
  { group: _, ...identity }: Seed["identities"][number],
  devIssuer: string | undefined,
): Json => {
  const { claimMatch } = identity;
  if (claimMatch?.issuer !== DEV_ISSUER_WORD) return identity;
  return { ...identity, claimMatch: { ...claimMatch, issuer: devIssuer } };
};
