// Writes that give unknown access: a deciding value is secret, or was computed from the uid of a new record, which differs on the service.
import { fieldPaths, isObject, valueAt } from "../../schema/index.ts";
import { METHODS, type WriteMethod } from "./methods.ts";
import type { Write } from "./write.ts";

/** Texts that no decision reads. A name is not one of them: people decide by it. */
const FOR_PEOPLE = ["description", "company"];

/** Whether no value of this path decides access. */
export const decidesNothing = ({ resource }: WriteMethod, path: string): boolean =>
  resource.givesNoAccess === true || FOR_PEOPLE.includes(path);

/** Why the access is unknown, by path of the value; empty: it is known. */
export const unknownIn = ({ method: name, parent, uid, fields }: Write): string[] => {
  const method = METHODS.get(name);
  if (method === undefined) return [`${name}: unknown method`];
  const { schema } = method;
  const references = fieldPaths(schema, (info) => info.references !== undefined);
  const secret = fieldPaths(schema, (info) => info.secret === true);
  const places: [string, unknown][] = [
    ["parent", parent],
    ["uid", uid],
    ...references.map((path): [string, unknown] => [path, valueAt(fields, path)]),
  ];
  return [
    ...places
      .filter(([, value]) => isComputed(value))
      .map(([path]) => `${path} is computed from the uid of a new record`),
    ...places
      .slice(0, 2)
      .filter(([, value]) => isHidden(value))
      .map(([path]) => `${path} is secret`),
    ...hiddenPaths(fields)
      .filter((path) => !decidesNothing(method, path) && !secret.includes(path))
      .map((path) => `${path} is secret`),
  ];
};

const isHidden = (value: unknown) => isObject(value) && value.$secret === true;

const isComputed = (value: unknown) => isObject(value) && ("$text" in value || "$segment" in value);

/** Inside a list or a map, the path of that list or map. */
const hiddenPaths = (value: unknown, path = ""): string[] => {
  if (isHidden(value)) return [path];
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => hiddenPaths(item, path)))];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    hiddenPaths(item, name.startsWith("$") ? path : path === "" ? name : `${path}.${name}`),
  );
};
