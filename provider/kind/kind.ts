// What reconcile needs to know of a kind: names, and the few rules in which kinds differ.
import type { Client } from "../../client/client.ts";
import type { List } from "../../client/paginate.ts";
import type { RecordOperations } from "../../client/records.ts";
import { type Json, printable, type Resource } from "../../schema/index.ts";
import type { Ownership } from "../session/ownership.ts";

/** of the type tokens of resources: the SDK's for dynamic resources, then ours */
export const TYPE_PREFIX = "pulumi-nodejs:dynamic/irm:";

/** What the rules of a kind need of a session. */
export type LookUpSession = Client & { ownership: Ownership };

export interface Kind extends Omit<Resource, "operations"> {
  operations: RecordOperations;
  /** fields that a record like `desired` has: they narrow a list of them */
  filters(desired: Json): Json;
  /** fields that identify a record in its place; default: name */
  matchedBy?: readonly string[];
  /** fields that are unique in a place: the old record is deleted before a new one is created there */
  unique?: readonly string[];
  /** a create changes a record of the same name, and is how it is updated */
  upsert?: true;
  /** field of the API → argument, where the names differ */
  arguments?: Readonly<Record<string, string>>;
  /** whether the server chooses for such a record what its schema says that it may choose; default: for any */
  choosesFor?(record: Json): boolean;
  /** paths where the service stores a uid and the program may give a text */
  respelled?: readonly string[];
  /** why a replacement must be allowed by the program; absent = it need not */
  replacementBreaks?: string;
  /** arguments in the API's spelling (friendly names to enum names) */
  canonicalize?(input: Json): Json;
  /** field that is a list of names → all of them, to suggest the nearest */
  valueNames?: Readonly<Record<string, readonly string[]>>;
  /** a response, or stored outputs, with the fields that the API returns elsewhere in them */
  normalizeResponse?(answer: Json): Json;
  /** the desired record, with the uid of the observed one where the program gives the name of what is there */
  settle?(desired: Json, observed: Json): Json;
  /** the desired record with uids where the program gives names */
  resolve?(session: LookUpSession, desired: Json): Promise<Json>;
  /** fields that take the name of a built-in role instead of a uid */
  byName?: readonly string[];
  /** arguments that the constructor adds for the reader of a preview; nothing else uses them */
  display?: readonly string[];
  /** what the state keeps of an answer; `own` are the arguments, or the outputs so far */
  stored?(answer: Json, own: Json): Json;
  /** arguments as the program may have given them, and what is shown beside them, of stored outputs */
  shown?(outputs: Json): Json;
  /** the stored outputs hold in clear text what the program marks as secret */
  holdsSecret?(outputs: Json, desired: Json): boolean;
  /** uids of other records whose deletion this one prevents */
  references?(stored: Json): string[];
  /** records that prevent a deletion, to wait for and to list */
  blockers?(uid: string): Blockers[];
  /** why a record with blockers is not deleted although the service would: it would delete them too */
  deleteGuard?: string;
  /** `forceDestroy` is an argument */
  supportsForceDestroy?: "below" | "guarded";
}

/** A list request and how to read it. */
export interface Blockers extends List {
  request: Json;
  word: string;
}

export const withArticle = (word: string): string => `${/^[aeiou]/i.test(word) ? "an" : "a"} ${word}`;

export const pluralOf = (word: string): string => `${word.replace(/y$/, "ie")}s`;

export const title = (record: Json): string => {
  const { name, identity, role } = record as { name?: string; identity?: { name?: string }; role?: { name?: string } };
  if (name) return `"${printable(name)}"`;
  return identity?.name && role?.name ? printable(`(${identity.name} as ${role.name})`) : "";
};
