// Partial updates (docs/internals/contract.md#updates, AIP-134, AIP-161). A mask is a list of lowerCamel paths, nested if a field is a
// message. `*` replaces the whole record. The server applies masks, the provider writes them.
import type { z } from "zod";
import { asMessage, fieldByName, fieldInfo, fieldsOf, isZero, type Message } from "./field.ts";
import { inputFields, oneofsOf } from "./input.ts";
import type { Json } from "./json.ts";

export const WILDCARD = "*";

/**
 * Reads `updateMask`: comma-joined, lowerCamel or snake_case. Output-only paths are ignored. A repeated path
 * counts once. `unknown`: paths that name no field of the message, as written.
 */
export const parseMask = (schema: Message, text: string): { paths: string[]; unknown: string[] } => {
  const paths = new Set<string>();
  const unknown = new Set<string>();
  for (const part of text.split(",")) {
    const written = part.trim();
    if (written === "") continue;
    if (written === WILDCARD) paths.add(WILDCARD);
    else {
      const path = written.length > PATH_MAX ? undefined : resolve(schema, written.split("."));
      if (path === undefined) unknown.add(written);
      else if (path !== "") paths.add(path);
    }
  }
  return { paths: [...paths], unknown: [...unknown] };
};

// Longer than any path of a field.
const PATH_MAX = 255;

// The canonical path; "" for an output-only field; undefined for an unknown one.
const resolve = (schema: Message, [head, ...rest]: string[]): string | undefined => {
  const found = fieldByName(schema, head as string);
  if (!found) return undefined;
  const { name, info, message } = found;
  if (info.behavior === "OUTPUT_ONLY") return "";
  if (rest.length === 0) return name;
  if (!message) return undefined;
  const below = resolve(message, rest);
  return below === undefined || below === "" ? below : `${name}.${below}`;
};

/** The mask of a request without one: the keys of the JSON body, nested for messages (docs/internals/contract.md#updates). */
export const impliedMask = (schema: Message, json: unknown): string[] => {
  if (typeof json !== "object" || json === null) return [];
  return fieldsOf(schema).flatMap(({ name, spellings, info, message }) => {
    const key = spellings.find((spelling) => Object.hasOwn(json, spelling));
    if (key === undefined || info.behavior === "OUTPUT_ONLY") return [];
    const inner = (json as Json)[key];
    const below = message && inner !== null ? impliedMask(message, inner).map((path) => `${name}.${path}`) : [];
    return below.length > 0 ? below : [name];
  });
};

/** Whether a path is `outer`, or below it. */
export const isWithin = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`);

/** Whether the mask names a path, or something above or below it. */
export const maskTouches = (paths: readonly string[], field: string): boolean =>
  paths.some(
    (path) => path === WILDCARD || isWithin(field, path) || isWithin(path, field) || field.startsWith(`${path}[`),
  );

/**
 * Returns `current` with the masked fields of `change`. Clears a masked field that `change` lacks. Setting a member of a
 * oneof clears the others, as in protobuf.
 */
export const applyMask = (schema: Message, current: Json, change: Json, paths: readonly string[]): Json => {
  const all = paths.includes(WILDCARD) ? inputFields(schema) : paths;
  return all.reduce((value, path) => applyPath(schema, value, change, path.split(".")), current);
};

const applyPath = (schema: Message, current: Json, change: Json, [key = "", ...rest]: string[]): Json => {
  const field = schema.shape[key] as z.ZodType;
  const message = asMessage(field);
  const next =
    rest.length > 0 && message
      ? applyPath(message, (current[key] as Json) ?? {}, (change[key] as Json) ?? {}, rest)
      : change[key];
  const value = { ...current };
  // Clearing inside an absent message leaves it absent.
  if (isZero(field, next) || (message && rest.length > 0 && !current[key] && !change[key])) delete value[key];
  else {
    const members = oneofsOf(schema).get(fieldInfo(field).oneof ?? "") ?? [];
    for (const member of members) delete value[member];
    value[key] = next;
  }
  return value;
};
