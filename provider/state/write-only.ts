// Fields that the service accepts and never returns (a client secret, the ttl of an invite), or shows once (an invite's code).
// A read returns neither, so the state keeps what was sent or shown. Secrets stand in an output of their own, which the
// engine is asked to encrypt (program/secret.ts): so they cannot be read in a state, whatever the program marks as secret.
import { asMessage, fieldInfo, type Json, type Message } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";

/** Of outputs: path → secret value that was sent. */
export const SECRETS = "__secrets";

interface WriteOnlyField {
  path: readonly string[];
  isSecret: boolean;
}

const known = new WeakMap<Message, WriteOnlyField[]>();

/** The fields of a record that no answer has. */
export const writeOnlyFields = (schema: Message): WriteOnlyField[] => {
  const found =
    known.get(schema) ??
    Object.entries(schema.shape).flatMap(([name, field]): WriteOnlyField[] => {
      const { inputOnly = false, answeredAs, secret = false, behavior } = fieldInfo(field);
      if (inputOnly && answeredAs === undefined) return [{ path: [name], isSecret: secret }];
      const message = behavior === "OUTPUT_ONLY" ? undefined : asMessage(field);
      return message ? writeOnlyFields(message).map((one) => ({ ...one, path: [name, ...one.path] })) : [];
    });
  known.set(schema, found);
  return found;
};

/** The outputs that only the answer of the create has. */
export const shownOnceFields = (schema: Message): string[] =>
  Object.entries(schema.shape).flatMap(([name, field]) => {
    const { behavior, secret } = fieldInfo(field);
    return behavior === "OUTPUT_ONLY" && secret ? [name] : [];
  });

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

export const valueAt = (holder: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, member) => (isObject(value) ? value[member] : undefined), holder);

/** A copy with another value at a path; undefined takes it out. What holds the path must be there. */
export const withValueAt = (holder: Json, [name, ...rest]: readonly string[], value: unknown): Json => {
  const own = holder[name as string];
  if (rest.length > 0) return isObject(own) ? { ...holder, [name as string]: withValueAt(own, rest, value) } : holder;
  const { [name as string]: _, ...others } = holder;
  return value === undefined ? others : { ...others, [name as string]: value };
};

/** The fields of an answer for the state, with what no answer has: from `own`, the arguments or the outputs so far. */
export const withUnreturned = (kind: Kind, answer: Json, own: Json): Json => {
  const secrets: Json = {};
  let fields = answer;
  for (const { path, isSecret } of writeOnlyFields(kind.schema)) {
    const value = valueAt(own[SECRETS], [path.join(".")]) ?? valueAt(own, path);
    if (isSecret && value !== undefined) secrets[path.join(".")] = value;
    // A service that returns a secret does not get it into the state in clear text.
    fields = withValueAt(fields, path, isSecret ? undefined : (valueAt(fields, path) ?? value));
  }
  for (const name of shownOnceFields(kind.schema))
    if (fields[name] === undefined && own[name] !== undefined) fields = { ...fields, [name]: own[name] };
  return Object.keys(secrets).length === 0 ? fields : { ...fields, [SECRETS]: secrets };
};

/** Outputs with their secrets where the API has them. */
export const withSecretsInPlace = ({ [SECRETS]: secrets, ...outputs }: Json): Json =>
  Object.entries((secrets as Json | undefined) ?? {}).reduce<Json>(
    (result, [path, value]) => withValueAt(result, path.split("."), value),
    outputs,
  );

/** Arguments without the secrets that the record may have another value of: a record that someone else, or an earlier run, created. */
export const withoutSecrets = (kind: Kind, desired: Json): Json =>
  writeOnlyFields(kind.schema)
    .filter(({ isSecret }) => isSecret)
    .reduce<Json>((result, { path }) => withValueAt(result, path, undefined), desired);
