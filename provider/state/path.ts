// Dotted paths of fields, `staticKeys.expirationTime`, and the values at them.
import { type FieldInfo, fieldPaths, type Json, type Message } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

export const valueAt = (holder: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), holder);

/** A copy with another value at a path; undefined takes it out. What holds the path must be there. */
export const withValueAt = (holder: Json, path: string, value: unknown): Json => {
  const [name = "", ...rest] = path.split(".");
  const own = holder[name];
  if (rest.length > 0) return isObject(own) ? { ...holder, [name]: withValueAt(own, rest.join("."), value) } : holder;
  const { [name]: _, ...others } = holder;
  return value === undefined ? others : { ...others, [name]: value };
};

/** A copy without the values at these paths. */
export const withoutPaths = (holder: Json, paths: readonly string[]): Json =>
  paths.reduce((result, path) => withValueAt(result, path, undefined), holder);

// The schema never changes: its paths are found once for each message.
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
