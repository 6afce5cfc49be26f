// Look-ups for programs: exactly one record, or an error that lists what was found. Without a parent only root-level records count
// (organisations, built-in roles), so that a record of the same name in a group never hides them.
import * as pulumi from "@pulumi/pulumi";
import { type List, listAll, listChildren } from "../../client/paginate.ts";
import { isUidp, nearestNames, printable, type Resource } from "../../schema/index.ts";
import { remembered } from "./binding-names.ts";
import { referenceUid } from "./inputs.ts";
import { programError, programSession } from "./session.ts";

export interface GetArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds the record; default: root-level records only */
  parent?: string;
}

/** A record by its uid. */
export interface GetByUidArgs {
  uid: string;
}

/** A record by its name in a group. */
export interface GetInGroupArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds it */
  parent: string;
}

/** Inputs that may not be known yet, looked for when they are. */
export type Inputs<T> = { [K in keyof T]: pulumi.Input<T[K]> };

type Named = { uid: string; name: string };

/** The record of that name in a group, or at the root. */
export const getNamed = async <T extends Named>(resource: Resource, args: GetArgs): Promise<T> =>
  remembered(await onlyNamed<T>(resource, args));

/** The same with inputs that may not be known yet. Its name may be secret, so it is not remembered. */
export const getNamedOutput = <T extends Named>(
  resource: Resource,
  { name, parent }: { name: pulumi.Input<string>; parent?: unknown },
): pulumi.Output<T> => {
  // A parent that was given and turns out undefined must not become a search at the root.
  const inputs = parent === undefined ? { name } : { name, parent: referenceUid(parent, resource.parent, "parent") };
  return pulumi.output(inputs).apply((args) => onlyNamed<T>(resource, args as GetArgs)) as pulumi.Output<T>;
};

/** The record with this uid, or of this name in a `place` that must be given: there are none at the root. */
export const getIn = async <T extends Named>(
  resource: Resource,
  args: { uid?: unknown; name?: unknown },
  place = "parent",
): Promise<T> => {
  if (args.uid !== undefined) return getByUid<T>(resource, args.uid);
  const { [place]: parent } = args as Record<string, unknown>;
  if (typeof parent !== "string") throw new TypeError(`${place} of the ${resource.word} to look for is required`);
  return onlyNamed<T>(resource, { name: args.name as string, parent });
};

/** The record with this uid. */
export const getByUid = async <T extends { uid: string }>({ word, list }: Resource, uid: unknown): Promise<T> => {
  if (!isUidp(uid)) throw new TypeError(`uid of the ${word} to look for must be a uid`);
  for await (const one of listAll<T>(await programSession(), list, { uidp: { ids: [uid] } }))
    if (one.uid === uid) return one;
  throw programError(`no ${word} has the uid ${uid}, or none that the caller may read`);
};

/** A look-up with inputs that may not be known yet; `place` may be a resource. */
export const getOutput = <Args, T>(
  resource: Resource,
  get: (args: Args) => Promise<T>,
  args: object,
  place = "parent",
): pulumi.Output<T> => {
  const { [place]: parent, ...others } = args as Record<string, unknown>;
  const inputs = place in args ? { ...others, [place]: referenceUid(parent, resource.parent, place) } : others;
  return pulumi.output(inputs).apply((known) => get(known as Args)) as pulumi.Output<T>;
};

const onlyNamed = async <T extends Named>({ word, words, list }: Resource, args: GetArgs): Promise<T> => {
  const { name, parent } = args;
  if (typeof name !== "string" || name === "") throw new TypeError(`name of the ${word} to look for is required`);
  if (Object.hasOwn(args, "parent") && typeof parent !== "string")
    throw new TypeError(`parent of the ${word} to look for is given and undefined`);
  const matches: T[] = [];
  for await (const one of listChildren<T>(await programSession(), list, parent ?? "", { name }))
    if (one.name === name) matches.push(one);
  const [match, ...others] = matches;
  if (match && others.length === 0) return match;
  const where = parent === undefined ? "at the root" : `in ${parent}`;
  const lines = matches.map((one) => `${one.uid} "${printable(one.name)}"`);
  const hint = matches.length === 0 ? await namesInstead(list, parent ?? "", name) : "";
  const found = `${matches.length || "no"} ${matches.length > 1 ? words : word}`;
  throw programError([`${found} named "${name}" ${where}; exactly one is needed${hint}`, ...lines].join("\n  - "));
};

// Most records that are searched for a similar name.
const LOOKED_AT = 1_000;

const namesInstead = async (list: List, parent: string, name: string): Promise<string> => {
  const names: string[] = [];
  try {
    for await (const one of listChildren<Named>(await programSession(), list, parent)) {
      names.push(one.name);
      if (names.length === LOOKED_AT) break;
    }
  } catch {
    // The name is wrong in any case; a caller who may not list gets no suggestion.
  }
  const near = nearestNames(name, names).map((one) => `"${printable(one)}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};
