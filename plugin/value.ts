// The engine's values: a google.protobuf.Struct with signatures for secrets and texts for what a preview does not know
// (github.com/pulumi/pulumi/sdk/go/common/resource/sig, github.com/pulumi/pulumi/sdk/go/common/resource/plugin/rpc.go).
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { UNKNOWN } from "../provider/record/normal-form.ts";
import { isObject, type Json } from "../schema/index.ts";

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

/** Of each type of value the engine has its own. */
const UNKNOWNS: readonly unknown[] = [
  UNKNOWN,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];

export class Secret {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** A tree of plain values in which some are `Secret`. */
export type Marked = Json;

const isPlain = (value: unknown): value is Json => isObject(value) && !(value instanceof Secret);

/** A list or an object with each of its members mapped; any other value as it is. */
const withMembers = (value: unknown, map: (member: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map(map);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]));
};

export const markedFrom = (struct: Struct.Struct | undefined): Marked => marked(struct?.toJavaScript() ?? {}) as Marked;

const marked = (value: unknown): unknown => {
  if (UNKNOWNS.includes(value)) return UNKNOWN;
  if (isPlain(value) && value[SIGNATURE] === SECRET_SIGNATURE) return new Secret(marked(value.value));
  return withMembers(value, marked);
};

/** Without the marks. */
export const plainFrom = (value: Marked): Json => plain(value) as Json;

/** The values of a message without the marks. */
export const plainIn = (struct: Struct.Struct | undefined): Json => plainFrom(markedFrom(struct));

const plain = (value: unknown): unknown => (value instanceof Secret ? plain(value.value) : withMembers(value, plain));

export const containsSecret = (value: unknown): boolean => {
  if (value instanceof Secret) return true;
  if (Array.isArray(value)) return value.some(containsSecret);
  return isPlain(value) && Object.values(value).some(containsSecret);
};

/** The texts within what is secret. */
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

/** With what is at these paths secret, whatever the program marks: `oidc.clientSecret`. */
export const withSecrets = (values: Marked, paths: readonly string[]): Marked =>
  paths.reduce((result, path) => withSecretAt(result, path.split(".")), values);

const withSecretAt = (values: Marked, [name = "", ...rest]: string[]): Marked => {
  const value = values[name];
  if (value === undefined || value instanceof Secret) return values;
  if (rest.length === 0) return { ...values, [name]: new Secret(plain(value)) };
  return isPlain(value) ? { ...values, [name]: withSecretAt(value, rest) } : values;
};

export const structFrom = (values: Marked): Struct.Struct => Struct.Struct.fromJavaScript(signed(values) as never);

const signed = (value: unknown): unknown => {
  if (value instanceof Secret) return { [SIGNATURE]: SECRET_SIGNATURE, value: signed(value.value) };
  if (Array.isArray(value)) return value.map((item) => signed(item ?? null));
  if (!isPlain(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, signed(member)]));
};
