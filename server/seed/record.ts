// The records that a seed may contain, in the form of a YAML file: fields and references. The API checks the values.
import { z } from "zod";
import {
  AccountAssociation,
  Advisory,
  capabilityFrom,
  ExternalGroupRoleMapping,
  IdentityProvider,
  inputFields,
  type Json,
  type Message,
  type Problem,
  Repo,
  Tag,
  UserError,
} from "../../schema/index.ts";
import type { YamlFile } from "../base/yaml-file.ts";

/** A seed that cannot be used: one line for each problem, `file:line:column: path: text`. */
export class SeedError extends UserError {
  override readonly name = "SeedError";
}

const record = { name: z.string(), description: z.string().optional() };
const group = z.string().default("");

// The fields that a caller may set, without the given ones.
const fieldsOf = (schema: Message, ...but: string[]): Record<string, z.ZodOptional<z.ZodUnknown>> =>
  Object.fromEntries(
    inputFields(schema)
      .filter((name) => !but.includes(name))
      .map((name) => [name, z.unknown().optional()]),
  );

const ADVISORY_ID = "must be an advisory id such as CGA-xvgw-cvr7-9g2q";

export const SeedSchema = z.strictObject({
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
  // Their scope is the organization.
  externalGroupRoleMappings: z
    .array(
      z.strictObject({
        ...fieldsOf(ExternalGroupRoleMapping, "roleUid", "scope"),
        identityProvider: z.string(),
        externalGroupId: z.string(),
        role: z.string(),
      }),
    )
    .optional(),
  accountAssociations: z.array(z.strictObject({ ...fieldsOf(AccountAssociation), ...record, group })).optional(),
  // The source of a sync is a uid, which no file knows.
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

/** A seed, opaque to programs: `parseSeed` returns it, `createServer` takes it. */
export type ParsedSeed = { readonly organization: { readonly name: string } } | { readonly records: object };

// Kept beside the seed, which is plain data to a program.
const files = new WeakMap<object, YamlFile>();

/** Keeps the positions of the records in their file, for problems that only a start can find. */
export const keepPlaces = <S extends object>(seed: S, file: YamlFile): S => {
  files.set(seed, file);
  return seed;
};

export const problemText = (seed: object, problems: readonly Problem[]): string =>
  files.get(seed)?.describe(problems) ?? problems.map(({ path, text }) => `${path.join(".")}: ${text}`).join("\n");

/** `issuer` of a claim match that stands for the development issuer, whose port is not known beforehand. */
export const DEV_ISSUER_WORD = "dev-issuer";

/** Path of a record of a group: `platform/ci`; of the organization: `ci`. */
export const seedPath = (parent: string, name: string): string => (parent ? `${parent}/${name}` : name);

/** A role as the API takes it: capabilities by enum name. */
export const roleInput = ({ capabilities, ...role }: Omit<Seed["roles"][number], "group">): Json => ({
  ...role,
  capabilities: capabilities.map((text) => capabilityFrom(text) ?? text),
});

export const identityInput = (
  identity: Omit<Seed["identities"][number], "group">,
  devIssuer: string | undefined,
): Json => {
  const { claimMatch } = identity;
  if (claimMatch?.issuer !== DEV_ISSUER_WORD) return identity;
  return { ...identity, claimMatch: { ...claimMatch, issuer: devIssuer } };
};
