// Dotted paths of fields, `staticKeys.expirationTime`, and the values at them.
import { isPlaceholder } from "../../client/placeholder-uid.ts";
import { type FieldInfo, fieldPaths, type Json, type Message } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

/** What the engine passes for a value that a preview does not know yet, inside maps and lists too. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export const isUnknown = (value: unknown): boolean => value === UNKNOWN;

/** A placeholder stands for a uid that is not known yet, too. */
export const containsUnknown = (value: unknown): boolean =>
  isUnknown(value) ||
  isPlaceholder(value) ||
  (typeof value === "object" && value !== null && Object.values(value).some(containsUnknown));

const isHolder = (value: unknown): value is Json => typeof value === "object" && value !== null;

export const valueAt = (holder: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (isHolder(value) ? value[name] : undefined), holder);

/** A copy with another value at a path; undefined removes it. A path whose holder is missing changes nothing. */
export const withValueAt = (holder: Json, path: string, value: unknown): Json => {
  const [name = "", ...rest] = path.split(".");
  const own = holder[name];
  if (rest.length > 0) return isHolder(own) ? { ...holder, [name]: withValueAt(own, rest.join("."), value) } : holder;
  const { [name]: _, ...others } = holder;
  return value === undefined ? others : { ...others, [name]: value };
};

/** A copy without the values at these paths. */
export const withoutPaths = (holder: Json, paths: readonly string[]): Json =>
  paths.reduce((result, path) => withValueAt(result, path, undefined), holder);

/** Paths of the fields that `accepts` chooses. Computed once for each message, since a schema never changes. */
export const pathsOnce = (
  accepts: (info: FieldInfo) => boolean,
): ((kind: Pick<Kind, "schema">) => readonly string[]) => {
  const known = new WeakMap<Message, readonly string[]>();
  return ({ schema }) => {
    const paths = known.get(schema) ?? fieldPaths(schema, accepts);
    known.set(schema, paths);
    return paths;
  };
};
