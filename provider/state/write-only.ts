// Fields that the service accepts and never returns (a client secret, the ttl of an invite), or shows once (an invite's code).
// A read returns neither, so the state keeps what was sent or shown. Secrets stand in an output of their own, which the
// engine is asked to encrypt (program/secret.ts): so they cannot be read in a state, whatever the program marks as secret.
import type { Json } from "../../schema/index.ts";
import type { Kind } from "../kind/kind.ts";
import { pathsOnce, valueAt, withoutPaths, withValueAt } from "./path.ts";

/** Of outputs: path → secret value that was sent. */
export const SECRETS = "__secrets";

/** Paths of the fields that no answer has. */
export const writeOnlyPaths = pathsOnce(({ inputOnly, answeredAs }) => inputOnly === true && answeredAs === undefined);

const secretPaths = pathsOnce(({ inputOnly, answeredAs, secret }) => {
  return inputOnly === true && answeredAs === undefined && secret === true;
});

/** The outputs that only the answer of the create has. */
export const shownOncePaths = pathsOnce(({ behavior, secret }) => behavior === "OUTPUT_ONLY" && secret === true);

/** The fields of an answer for the state, with what no answer has: from `own`, the arguments or the outputs so far. */
export const withUnreturned = (kind: Kind, answer: Json, own: Json): Json => {
  const secrets: Json = {};
  let fields = answer;
  for (const path of writeOnlyPaths(kind)) {
    const isSecret = secretPaths(kind).includes(path);
    const value = (own[SECRETS] as Json | undefined)?.[path] ?? valueAt(own, path);
    if (isSecret && value !== undefined) secrets[path] = value;
    // A service that returns a secret does not get it into the state in clear text.
    fields = withValueAt(fields, path, isSecret ? undefined : (valueAt(fields, path) ?? value));
  }
  for (const name of shownOncePaths(kind))
    if (fields[name] === undefined && own[name] !== undefined) fields = { ...fields, [name]: own[name] };
  return Object.keys(secrets).length === 0 ? fields : { ...fields, [SECRETS]: secrets };
};

/** Outputs with their secrets where the API has them. */
export const withSecretsInPlace = ({ [SECRETS]: secrets, ...outputs }: Json): Json =>
  Object.entries((secrets as Json | undefined) ?? {}).reduce<Json>(
    (result, [path, value]) => withValueAt(result, path, value),
    outputs,
  );

/** Arguments without the secrets that the record may have another value of: a record that someone else, or an earlier run, created. */
export const withoutSecrets = (kind: Kind, desired: Json): Json => withoutPaths(desired, secretPaths(kind));
