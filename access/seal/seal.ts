// The seal of a review: what was shown, in a file that binds what is applied. Its shape, its digest, and how it is read.
//
//   origin    the stack, the services, the commit, and until when it holds
//   rows      what each identity gains and loses, as the review shows it: for people
//   steps     each resource of ours: what the engine does with it, and its inputs
//   deletes   records that the run may delete
//   blocked   deletions that fail
//   before    the part of the access graph that the change rests on, as the API has it
//   after     the same after the change
//   owners    of each adopted record, who owned the groups that hold it
//   unlisted  kinds of records whose list the service refused, so that the review shows none of them
//
// It has no secret: a secret input is marked as hidden, and its value is not in it.
import { z } from "zod";
import { digestOf } from "../canonical.ts";
import { compare } from "../graph/compare.ts";
import type { AccessGraph } from "../graph/graph.ts";

const node = { id: z.string(), uid: z.string().nullable() };
const named = { ...node, name: z.string() };
const json = z.record(z.string(), z.unknown());

/** A part of an access graph, as lists. */
const Part = z.object({
  groups: z.array(z.object({ ...named, parent: z.string().nullable() })),
  identities: z.array(z.object({ ...named, group: z.string(), relationship: json.nullable() })),
  roles: z.array(z.object({ ...named, group: z.string().nullable(), capabilities: z.array(z.string()) })),
  bindings: z.array(z.object({ ...node, group: z.string(), identity: z.string(), role: z.string() })),
  providers: z.array(
    z.object({
      ...named,
      group: z.string(),
      signIn: z.object({ issuer: z.string(), clientId: z.string(), groupsClaim: z.string() }).nullable(),
      defaultRole: z.string().nullable(),
    }),
  ),
  externalGroups: z.array(
    z.object({ ...node, provider: z.string(), externalGroupId: z.string(), role: z.string(), group: z.string() }),
  ),
  invites: z.array(
    z.object({
      ...named,
      group: z.string(),
      role: z.string().nullable(),
      email: z.string(),
      singleUse: z.boolean(),
      expirationTime: z.string().nullable(),
    }),
  ),
});
export type Part = z.infer<typeof Part>;

/** The inputs of a resource, each leaf by its JSON pointer (RFC 6901). */
const Inputs = z.object({
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** leaves that are the uid of a record which another resource creates: its URN */
  created: z.record(z.string(), z.string()),
  /** what the review does not know: everything at these pointers and below */
  hidden: z.record(z.string(), z.enum(["secret", "unknown"])),
});
export type Inputs = z.infer<typeof Inputs>;

const Step = z.object({
  urn: z.string(),
  /** as in the schema, such as roleBinding */
  kind: z.string(),
  op: z.enum(["create", "update", "replace", "same", "read", "delete"]),
  /** of the record after the run; absent: the run creates it, or deletes it */
  uid: z.string().optional(),
  /** of the record that is there before the run, where the run creates another one */
  replaced: z.string().optional(),
  /** absent: the resource goes */
  inputs: Inputs.optional(),
});
export type Step = z.infer<typeof Step>;

export const isNew = ({ op }: Pick<Step, "op">): boolean => op === "create" || op === "replace";

/** uids of the records that the steps have, before the run or after it */
export const recordsOf = (steps: readonly Step[]): Set<string> =>
  new Set(steps.flatMap(({ uid, replaced }) => [uid ?? [], replaced ?? []].flat()));

const AccessRow = z.object({
  group: z.string().nullable(),
  groupName: z.string(),
  capability: z.string(),
  role: z.string(),
});

const SubjectRow = z.object({
  uid: z.string().nullable(),
  name: z.string(),
  groupName: z.string(),
  gains: z.array(AccessRow),
  losses: z.array(AccessRow),
  /** who can assume it, or who they are, in words */
  assumedBefore: z.string().nullable(),
  assumedAfter: z.string().nullable(),
});
export type SubjectRow = z.infer<typeof SubjectRow>;

const Origin = z.object({
  stack: z.string(),
  services: z.array(z.string()),
  commit: z.string().optional(),
  isModified: z.boolean().optional(),
  /** RFC 3339, by the clock of the service */
  time: z.string(),
  expires: z.string(),
});

const Content = z.object({
  seal: z.literal(1),
  origin: Origin,
  rows: z.array(SubjectRow),
  steps: z.array(Step),
  /** `KIND UID`, in order */
  deletes: z.array(z.string()),
  /** the deletions among them that fail */
  blocked: z.array(z.string()),
  unlisted: z.array(z.string()),
  before: Part,
  after: Part,
  owners: z.record(z.string(), z.array(z.string())),
});
export type SealContent = z.infer<typeof Content>;

const Seal = Content.extend({ digest: z.string() });
export type Seal = z.infer<typeof Seal>;

/** The file is no seal, or it was changed. */
export class SealFileError extends Error {
  override readonly name = "SealFileError";
}

export const sealed = (content: SealContent): Seal => ({ digest: digestOf(content), ...content });

export const sealText = (seal: Seal): string => `${JSON.stringify(seal, null, 1)}\n`;

/** `file` names the text in an error. Throws a SealFileError. */
export const parseSeal = (text: string, file: string): Seal => {
  const fail = (problem: string): never => {
    throw new SealFileError(`${file} ${problem}; npx pulumi-irm review --seal FILE writes a seal`);
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return fail(`is not JSON (${(error as Error).message})`);
  }
  const version = (json as { seal?: unknown } | null)?.seal;
  if (typeof version === "number" && version !== 1)
    return fail(`is a seal of version ${version}, and this version of pulumi-irm reads version 1`);
  if (version === undefined) return fail("is not a seal");
  const { data, error } = Seal.safeParse(json);
  if (error) {
    const [first] = error.issues;
    return fail(`is not a seal: ${first?.path.join(".")}: ${first?.message}`);
  }
  const { digest, ...content } = data;
  const own = digestOf(content);
  if (own !== digest) return fail(`was changed after it was written: its content has the digest ${own}, not ${digest}`);
  return data;
};

/** The lists of a graph, in the order of their ids. */
export const partFrom = (graph: AccessGraph): Part => {
  const listed = Object.entries(graph).map(([name, nodes]) => [
    name,
    [...(nodes as ReadonlyMap<string, { id: string }>).values()].sort((a, b) => compare(a.id, b.id)),
  ]);
  // The shape drops what a graph holds besides.
  return Part.parse(JSON.parse(JSON.stringify(Object.fromEntries(listed))));
};

export const graphFrom = (part: Part): AccessGraph =>
  Object.fromEntries(
    Object.entries(part).map(([name, nodes]) => [
      name,
      new Map((nodes as { id: string }[]).map((one) => [one.id, one])),
    ]),
  ) as unknown as AccessGraph;
