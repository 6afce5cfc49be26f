// A seed of records that exist elsewhere, as `irm serve --copy-of` reads them: by uid, with their times, as the API lists them.
import { z } from "zod";
import { parentOf, resources } from "../../schema/index.ts";

/** In the order in which they are created: a kind comes after those that its records refer to. */
export const COPIED_KINDS = [
  "group",
  "role",
  "identity",
  "identityProvider",
  "externalGroupRoleMapping",
  "accountAssociation",
  "repo",
  "tag",
  "roleBinding",
  "groupInvite",
] as const;
export type CopiedKind = (typeof COPIED_KINDS)[number];

type Plural = (typeof resources)[CopiedKind]["plural"];

const records = z.array(z.record(z.string(), z.unknown())).optional();

const named = { uid: z.string(), name: z.string().optional(), description: z.string().optional() };
const listOf = <S extends z.ZodRawShape>(shape: S) => z.array(z.strictObject({ ...named, ...shape })).optional();

export const CopySeedSchema = z.strictObject({
  /** the source of the records, and the records that are missing: for readers and reviewers */
  copy: z
    .looseObject({
      of: z.string().optional(),
      time: z.iso.datetime({ offset: true }).optional(),
      notVisible: z.array(z.object({ kind: z.string(), group: z.string().optional() })).optional(),
      leftOut: z.array(z.object({ kind: z.string(), uid: z.string() })).optional(),
    })
    .optional(),
  records: z.strictObject(
    Object.fromEntries(COPIED_KINDS.map((kind) => [resources[kind].plural, records])) as Record<Plural, typeof records>,
  ),
  /** references that no list contained, as far as the records show them */
  named: z
    .strictObject({
      groups: listOf({ kind: z.string().optional(), status: z.string().optional() }),
      roles: listOf({ capabilities: z.array(z.union([z.string(), z.number()])).optional() }),
      // Includes people who are among the records: their records lack issuer and subject.
      identities: listOf({
        email: z.string().optional(),
        issuer: z.string().optional(),
        subject: z.string().optional(),
      }),
    })
    .optional(),
});

export type CopySeed = z.output<typeof CopySeedSchema>;

/** The group that a record is in; "" at the root. */
export const groupOf = (kind: CopiedKind, uid: string): string => {
  if (kind === "group" || kind === "accountAssociation") return uid;
  return kind === "tag" || kind === "externalGroupRoleMapping" ? parentOf(parentOf(uid)) : parentOf(uid);
};
