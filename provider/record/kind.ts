// The facts about a kind that reconcile needs: names, and the few rules in which kinds differ. provider/kind derives most of it.
import type { Client } from "../../client/client.ts";
import type { List, RecordOperations } from "../../client/records.ts";
import {
  argumentPath,
  argumentsOf,
  fieldPaths,
  type Json,
  type Managed,
  type Message,
  type OperationName,
  once,
  outputsOf,
  printable,
  type Resource,
  resources,
} from "../../schema/index.ts";

/** of the type tokens of dynamic resources: the SDK's, then ours */
export const TYPE_PREFIX = "pulumi-nodejs:dynamic/irm:";

/** of the type tokens of native resources */
export const TOKEN_PREFIX = "irm:index:";

/** Type of a set of role bindings, which is not a record of the API. */
export const SET_TYPE = "RoleBindingSet";

const TYPES: ReadonlySet<string> = new Set([...Object.values(resources).map(({ type }) => type), SET_TYPE]);

/** Type of a resource of ours by its type token, in either form: `Group`; undefined for any other. */
export const typeOfToken = (token = ""): string | undefined => {
  const prefix = [TYPE_PREFIX, TOKEN_PREFIX].find((one) => token.startsWith(one));
  const type = prefix && token.slice(prefix.length);
  return type && TYPES.has(type) ? type : undefined;
};

/** The parts of a session that the rules of a kind need. */
export type LookUpSession = Client & { ownership: object };

/** The behavior of a kind that its descriptor cannot express. */
export interface Behavior {
  /** the desired record, with the observed uid if the program gives the name of the observed record */
  resolveNames?(desired: Json, observed: Json): Json;
  /** the desired record, with uids for the names that the program gives */
  resolve?(session: LookUpSession, desired: Json): Promise<Json>;
  /** arguments that the constructor adds for the reader of a preview; nothing else uses them */
  display?: readonly string[];
  /** the output that contains the group that holds the record: its uid follows from the id */
  parentOutput?: string;
  /** the part of a response that the state keeps; `bag` holds the arguments, or the outputs so far */
  stored?(answer: Json, bag: Json): Json;
  /** arguments as the program may have given them, and the values shown beside them, from stored outputs */
  shown?(outputs: Json): Json;
  /** the stored outputs hold in clear text a value that the program marks as secret */
  holdsSecret?(outputs: Json, desired: Json): boolean;
  /** records that prevent a deletion, to wait for and to list */
  blockers?(uid: string): Blockers[];
  /** A second one with the same fields changes nothing for anyone. */
  isHarmlessTwice?: true;
  /** creates several in one atomic request */
  batchCreate?: Extract<OperationName, `BatchCreate${string}`>;
  /** `forceDestroy` is an argument */
  supportsForceDestroy?: "below" | "guarded";
}

export interface Kind extends Omit<Managed, "operations">, Behavior {
  operations: RecordOperations;
  /** filters of a list that a record like `desired` passes */
  filters(desired: Json): Json;
  /** field of the API → argument, if the names differ */
  arguments: Readonly<Record<string, string>>;
  /** paths for which the service stores a uid and the program may give a text */
  respelled: readonly string[];
  /** arguments as the engine keeps them, in the API's spelling: names of outputs, and enum names for friendly ones */
  canonicalize(input: Json): Json;
  /** field that is a list of names → all of them, to suggest the nearest */
  valueNames: Readonly<Record<string, readonly string[]>>;
  /** a response, or stored outputs, completed with fields that the API returns elsewhere in them */
  normalizeResponse?(answer: Json): Json;
  /** fields that take the name of a built-in role instead of a uid */
  byName: readonly string[];
  /** uids of other records that it refers to */
  references?(stored: Json): string[];
  /** why a record with blockers is not deleted although the service allows it: the service would also delete them */
  deleteGuard?: string;
}

/** A list request and how to read it. */
export interface Blockers extends List {
  request: Json;
  word: string;
  /** whether a record of the list without these filters, but with `everyone`, is one of them; absent: unknown */
  among?: { everyone: Json; isOne(record: Json): boolean };
}

interface Reference {
  /** of the field */
  path: string;
  type: string;
}

/** The fields that hold uids of other records, or a map of uids, and the type of those records. */
export const referencesOf = ({ schema }: Pick<Resource, "schema">): readonly Reference[] => referencesIn(schema);

const referencesIn = once((schema: Message): readonly Reference[] => {
  const types = new Set<string>();
  fieldPaths(schema, ({ references }) => {
    if (references !== undefined) types.add(references);
    return false;
  });
  const known = Object.values(resources).filter(({ type }) => types.has(type));
  return known.flatMap(({ type }) =>
    fieldPaths(schema, (info) => info.references === type).map((path) => ({ path, type })),
  );
});

/** The arguments that take a record or its uid, and the type of the record. */
export const argumentReferencesOf = once((resource: Resource): readonly Reference[] => {
  const names = argumentsOf(resource.schema);
  const references = referencesOf(resource).map(({ path, type }) => ({ path: argumentPath(names, path), type }));
  return [{ path: "parent", type: resource.parent }, ...references];
});

/** The outputs: where the record is, and the API's fields by the names that a program uses; uid is the resource's id. */
export const outputNames = once(({ schema }: Resource): readonly string[] => {
  const names = outputsOf(schema);
  const fields = Object.keys(schema.shape).filter((field) => field !== "uid");
  return [...new Set(["parent", ...fields.map((field) => names[field] ?? field)])];
});

/** For people: `group 7209…/a033… "team"` */
export const recordText = ({ word }: Pick<Kind, "word">, record: Json): string =>
  [word, record.uid, title(record)].filter(Boolean).join(" ");

export const withArticle = (word: string): string => `${/^[aeiou]/i.test(word) ? "an" : "a"} ${word}`;

export const pluralOf = (word: string): string => `${word.replace(/y$/, "ie")}s`;

export const title = (record: Json): string => {
  const { name, identity, role } = record as { name?: string; identity?: { name?: string }; role?: { name?: string } };
  if (name) return `"${printable(name)}"`;
  return identity?.name && role?.name ? printable(`(${identity.name} as ${role.name})`) : "";
};
