// The values that the engine passes, prints and stores. It wraps secrets and references in objects with its own signature
// (https://github.com/pulumi/pulumi/blob/master/sdk/go/common/resource/sig/sig.go). A preview of --show-secrets, of a newer engine or of
// another tool may contain the bare values.
import type { Json } from "../schema/index.ts";

/** Replaces a value that a preview does not know, even inside texts, maps and lists. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export const isUnknown = (value: unknown): boolean => value === UNKNOWN;

export const containsUnknown = (value: unknown): boolean =>
  isUnknown(value) || (typeof value === "object" && value !== null && Object.values(value).some(containsUnknown));

/** The text that the engine prints in place of a secret. */
export const SECRET = "[secret]";

/** Marks an object that wraps a value: its member says which wrapper it is. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
/** Marks an object that wraps a secret. */
export const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";
const OUTPUT_SIGNATURE = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** No input of ours is nested so deeply; unbounded recursion would exhaust the stack. */
const DEPTH_MAX = 100;

/** The value without the engine's wrappers. `isClear`: with secrets in clear text. */
const unwrapValue = (value: unknown, isClear: boolean, depth = 0): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEPTH_MAX) return UNKNOWN;
  const inner = (one: unknown) => unwrapValue(one, isClear, depth + 1);
  if (Array.isArray(value)) return value.map(inner);
  const { [SIGNATURE]: signature, ...members } = value as Json;
  if (signature === SECRET_SIGNATURE) return isClear ? inner(members.value) : SECRET;
  if (signature === OUTPUT_SIGNATURE && !isClear) {
    if (members.secret === true) return SECRET;
    return members.value === undefined ? UNKNOWN : inner(members.value);
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]));
};

/**
 * The members of a bag of inputs or outputs, with SECRET and UNKNOWN in place of secrets and unknown values: no secret reaches a message.
 */
export const valuesIn = (bag: Json | null | undefined): Json => unwrapValue(bag ?? {}, false) as Json;

/** Treats a secret or unknown value as set: the setting may delete more than the preview shows. */
export const isOrMayBe = (value: unknown): boolean => value === true || value === SECRET || value === UNKNOWN;

/** The members in clear text, as the engine gives them to a program. Its printed output has no clear text. */
export const clearValuesIn = (bag: Json | null | undefined): Json => unwrapValue(bag ?? {}, true) as Json;
