// The one record that a program means: exactly one of that name in its place, or the one with that uid; an error that lists
// what was found otherwise.
import type * as pulumi from "@pulumi/pulumi";
import { type List, listAll, listChildren } from "../../client/paginate.ts";
import { isUidp, type Json, nearestNames, printable, type Resource } from "../../schema/index.ts";
import { pluralOf } from "../kind/kind.ts";
import { programError } from "./program-error.ts";
import { programSession } from "./session.ts";

export interface GetArgs {
  /** The whole name */
  name: string;
  /** uid of the group that directly holds the record; default: root-level records only */
  parent?: string;
}

/** How records of a kind are looked for, and how a text calls one. */
export type Sought = Pick<Resource, "word" | "list">;

/** The only record of that name directly in `parent`; without one, at the root. */
export const onlyNamed = async <T extends { uid: string; name: string }>(sought: Sought, args: GetArgs): Promise<T> => {
  const { word, list } = sought;
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
  throw programError(
    [
      `${matches.length || "no"} ${matches.length > 1 ? pluralOf(word) : word} named "${name}" ${where}; exactly one is needed${hint}`,
      ...lines,
    ].join("\n  - "),
  );
};

// Most records that are searched for a similar name.
const LOOKED_AT = 1_000;

const namesInstead = async (list: List, parent: string, name: string): Promise<string> => {
  const names: string[] = [];
  try {
    for await (const one of listChildren<{ uid: string; name: string }>(await programSession(), list, parent)) {
      names.push(one.name);
      if (names.length === LOOKED_AT) break;
    }
  } catch {
    // The name is wrong in any case; a caller who may not list gets no suggestion.
  }
  const near = nearestNames(name, names).map((one) => `"${printable(one)}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

/** The record with this uid. */
export const onlyWithUid = async <T extends { uid: string }>(sought: Sought, uid: unknown): Promise<T> => {
  const { word, list } = sought;
  if (!isUidp(uid)) throw new TypeError(`uid of the ${word} to look for must be a uid`);
  for await (const one of listAll<T>(await programSession(), list, { uidp: { ids: [uid] } }))
    if (one.uid === uid) return one;
  throw programError(`no ${word} has the uid ${uid}, or none that the caller may read`);
};

/** What is looked for by a uid, or by its name in a place that must be given: these records are in no root. */
export const onlyIn = <T extends { uid: string; name: string }>(
  sought: Sought,
  args: Json & { uid?: string; name?: string },
  place: string,
): Promise<T> => {
  if (args.uid !== undefined) return onlyWithUid<T>(sought, args.uid);
  const { name, [place]: parent } = args;
  if (typeof parent !== "string") throw new TypeError(`${place} of the ${sought.word} to look for is required`);
  return onlyNamed<T>(sought, { name: name as string, parent });
};

/** Inputs that may not be known yet, looked for when they are. */
export type Inputs<T> = { [K in keyof T]: pulumi.Input<T[K]> };
