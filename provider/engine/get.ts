// Look-ups of one record: exactly one, or an error that lists what was found. Without a parent only root-level records count
// (organizations, built-in roles), so that a record of the same name in a group never hides them.
import { type List, listAll, listChildren } from "../../client/paginate.ts";
import { isUidp, nearestNames, printable, type Resource } from "../../schema/index.ts";
import type { Session } from "../run/session.ts";

/** Connects when the arguments are checked. */
type Connect = () => Promise<Session>;

export type Named = { uid: string; name: string };

/** There is not exactly one record: a message for the person who wrote the program. */
export class LookUpError extends Error {
  override readonly name = "LookUpError";
}

/** The look-up itself is wrong. */
export class LookUpArgumentError extends TypeError {
  override readonly name = "LookUpArgumentError";
}

type RequireNamed = (
  resource: Resource,
  args: { name?: unknown; parent?: unknown },
) => asserts args is { name: string; parent?: string };

/** Throws where the arguments of a look-up by name are incomplete. */
export const requireNamed: RequireNamed = ({ word }, args) => {
  const { name, parent } = args;
  if (typeof name !== "string" || name === "")
    throw new LookUpArgumentError(`name of the ${word} to look for is required`);
  if (Object.hasOwn(args, "parent") && typeof parent !== "string")
    throw new LookUpArgumentError(`parent of the ${word} to look for is given and undefined`);
};

/** The record of that name in `parent`, or at the root. */
export const getNamed = async <T extends Named>(
  connect: Connect,
  resource: Resource,
  args: { name?: unknown; parent?: string },
): Promise<T> => {
  requireNamed(resource, args);
  const { word, words, list } = resource;
  const { name, parent } = args;
  const matches: T[] = [];
  for await (const one of listChildren<T>(await connect(), list, parent ?? "", { name }))
    if (one.name === name) matches.push(one);
  const [match, ...others] = matches;
  if (match && others.length === 0) return match;
  const where = parent === undefined ? "at the root" : `in ${parent}`;
  const lines = matches.map((one) => `${one.uid} "${printable(one.name)}"`);
  const hint = matches.length === 0 ? await namesInstead(connect, list, parent ?? "", name) : "";
  const found = `${matches.length || "no"} ${matches.length > 1 ? words : word}`;
  throw new LookUpError([`${found} named "${name}" ${where}; exactly one is needed${hint}`, ...lines].join("\n  - "));
};

// Most records that are searched for a similar name.
const LOOKED_AT = 1_000;

const namesInstead = async (connect: Connect, list: List, parent: string, name: string): Promise<string> => {
  const names: string[] = [];
  try {
    for await (const one of listChildren<Named>(await connect(), list, parent)) {
      names.push(one.name);
      if (names.length === LOOKED_AT) break;
    }
  } catch {
    // The name is wrong in any case; a caller who may not list gets no suggestion.
  }
  const near = nearestNames(name, names).map((one) => `"${printable(one)}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

/** The record with this uid, or of this name in a `place` that must be given: there are none at the root. */
export const getIn = async <T extends Named>(
  connect: Connect,
  resource: Resource,
  args: Readonly<Record<string, unknown>>,
  place = "parent",
): Promise<T> => {
  if (args.uid !== undefined) return getByUid<T>(connect, resource, args.uid);
  const { [place]: parent } = args;
  if (typeof parent !== "string")
    throw new LookUpArgumentError(`${place} of the ${resource.word} to look for is required`);
  return getNamed<T>(connect, resource, { name: args.name, parent });
};

/** The record with this uid. */
export const getByUid = async <T extends { uid: string }>(
  connect: Connect,
  { word, list }: Resource,
  uid: unknown,
): Promise<T> => {
  if (!isUidp(uid)) throw new LookUpArgumentError(`uid of the ${word} to look for must be a uid`);
  for await (const one of listAll<T>(await connect(), list, { uidp: { ids: [uid] } })) if (one.uid === uid) return one;
  throw new LookUpError(`no ${word} has the uid ${uid}, or none that the caller may read`);
};
