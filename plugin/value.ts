// The values of a program, with marks of secrets.
import { UNKNOWN } from "../pulumi/value.ts";
import { isObject, type Json } from "../schema/index.ts";

export class Secret {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** A tree of plain values in which some are `Secret`. */
export type Marked = Json;

const isPlain = (value: unknown): value is Json => isObject(value) && !(value instanceof Secret);

/** Without the marks. */
export const plainFrom = (values: Marked): Json => (containsSecret(values) ? (plain(values) as Json) : values);

const plain = (value: unknown): unknown => {
  if (value instanceof Secret) return plain(value.value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
};

export const containsSecret = (value: unknown): boolean => {
  if (value instanceof Secret) return true;
  if (Array.isArray(value)) return value.some(containsSecret);
  return isPlain(value) && Object.values(value).some(containsSecret);
};

/** The texts within secrets. */
export const secretTexts = (value: unknown, isWithin = false): string[] => {
  if (value instanceof Secret) return secretTexts(value.value, true);
  if (typeof value === "string") return isWithin && value !== UNKNOWN ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((member) => secretTexts(member, isWithin));
};

/**
 * Values with the marks of others of the same names: inputs of a program, or values so far. Objects are entered; a list is secret as a
 * whole, since its order may differ. The engine does the same for a provider that knows no secrets.
 */
export const withMarksOf = (values: Json, marks: Marked): Marked =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const mark = marks[name];
      if (isPlain(value) && isPlain(mark)) return [name, withMarksOf(value, mark)];
      return [name, containsSecret(mark) ? new Secret(value) : value];
    }),
  );

/** With the values at these paths marked as secret, whatever the program marks: `oidc.clientSecret`. */
export const withSecrets = (values: Marked, paths: readonly string[]): Marked =>
  paths.reduce((result, path) => withSecretAt(result, path.split(".")), values);

const withSecretAt = (values: Marked, [name = "", ...rest]: string[]): Marked => {
  const value = values[name];
  if (value === undefined || value instanceof Secret) return values;
  if (rest.length === 0) return { ...values, [name]: new Secret(plain(value)) };
  return isPlain(value) ? { ...values, [name]: withSecretAt(value, rest) } : values;
};
