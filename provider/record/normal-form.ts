// The normal form, in which arguments, responses and stored outputs are comparable. They may differ and mean the same: a text for which the
// service stores a uid, a field that it does not return, or another spelling.
import { isUnknown } from "../../pulumi/value.ts";
import {
  type FieldInfo,
  fieldPaths,
  isObject,
  isShownOnce,
  isUidp,
  type Json,
  type Message,
  once,
  valueAt,
} from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

/** A copy with another value at a path; undefined removes it. A path whose holder is missing changes nothing. */
export const withValueAt = (holder: Json, path: string, value: unknown): Json => {
  const [name = "", ...rest] = path.split(".");
  const member = holder[name];
  if (rest.length > 0)
    return isObject(member) ? { ...holder, [name]: withValueAt(member, rest.join("."), value) } : holder;
  const { [name]: _, ...others } = holder;
  return value === undefined ? others : { ...others, [name]: value };
};

/** A copy without the values at these paths. */
export const withoutPaths = (holder: Json, paths: readonly string[]): Json =>
  paths.reduce((result, path) => withValueAt(result, path, undefined), holder);

/** Paths of the fields that `accepts` chooses. */
export const pathsOnce = (
  accepts: (info: FieldInfo) => boolean,
): ((kind: Pick<Kind, "schema">) => readonly string[]) => {
  const paths = once((schema: Message) => fieldPaths(schema, accepts));
  return ({ schema }) => paths(schema);
};

const serverChosen = pathsOnce((info) => info.serverChosen === true);

/** Paths whose value the server chooses for such a record when none is given. */
export const choicesOf = (kind: Kind, record: Json): readonly string[] =>
  kind.choosesFor?.(record) === false ? [] : serverChosen(kind);

/** A response, or stored outputs, with everything that can be compared with the desired record. */
export const observe = (kind: Kind, record: Json): Json => {
  const { [SECRETS]: secrets, ...outputs } = record;
  // Outputs with their secrets at the API's paths.
  const whole = Object.entries((secrets as Json | undefined) ?? {}).reduce<Json>(
    (result, [path, value]) => withValueAt(result, path, value),
    outputs,
  );
  return kind.normalizeResponse?.(whole) ?? whole;
};

/** Arguments in the spelling of the observed record, where both mean the same. */
export const resolveNames = (kind: Kind, args: Json, observed: Json): Json => {
  const resolved = resolveTexts(args, observed);
  return kind.resolveNames?.(resolved, observed) ?? resolved;
};

/** An output: path → the program's text, and the uid that the service stores for it: of a built-in role, or of a repo. */
export const GIVEN = "__given";

interface GivenText {
  text: string;
  value: unknown;
}

const textsOf = (bag: Json) => (bag[GIVEN] as Record<string, GivenText> | undefined) ?? {};

// While the record has the uid, its text is not a change.
const resolveTexts = (args: Json, observed: Json) =>
  Object.entries(textsOf(observed)).reduce<Json>((result, [path, { text, value }]) => {
    const isSame = valueAt(result, path) === text && valueAt(observed, path) === value;
    return isSame ? withLookedUp(result, path, text, value) : result;
  }, args);

/** The fields of stored outputs as the program may have given them. */
export const withTexts = (fields: Json, outputs: Json): Json =>
  Object.entries(textsOf(outputs)).reduce<Json>((result, [path, { text, value }]) => {
    return valueAt(result, path) === value ? withValueAt(result, path, text) : result;
  }, fields);

/** Arguments with the uid in place of a text that was looked up. */
export const withLookedUp = (args: Json, path: string, text: string, value: unknown): Json =>
  isUnknown(text)
    ? args
    : { ...withValueAt(args, path, value), [GIVEN]: { ...textsOf(args), [path]: { text, value } } };

/**
 * An output: path → secret that was sent. The engine encrypts this output (provider/program/inputs.ts), so a state never holds a
 * secret in clear text, whatever the program marks.
 */
export const SECRETS = "__secrets";

const isNeverReturned = ({ inputOnly, answeredAs }: FieldInfo) => inputOnly === true && answeredAs === undefined;

/** Paths of the fields that the service accepts and never returns: a client secret, the ttl of an invite. */
export const writeOnlyPaths = pathsOnce(isNeverReturned);

/** The paths among them that are secret. */
export const secretPaths = pathsOnce((info) => isNeverReturned(info) && info.secret === true);

/** Paths of the fields that only the response to the create returns: the code of an invite. */
export const shownOncePaths = pathsOnce(isShownOnce);

/**
 * A response, completed for the state: with fields that the service does not return, and the texts for which it stores uids. `bag` holds
 * the arguments, or the outputs so far.
 */
export const withUnreturned = (kind: Kind, answer: Json, bag: Json): Json => {
  const secrets: Json = {};
  const texts: Json = { ...(bag[GIVEN] as Json | undefined) };
  let fields = answer;
  for (const path of writeOnlyPaths(kind)) {
    const isSecret = secretPaths(kind).includes(path);
    const value = (bag[SECRETS] as Json | undefined)?.[path] ?? valueAt(bag, path);
    if (isSecret && value !== undefined) secrets[path] = value;
    // Even if a service returns a secret, the state does not hold it in clear text.
    fields = withValueAt(fields, path, isSecret ? undefined : (valueAt(fields, path) ?? value));
  }
  for (const name of shownOncePaths(kind))
    if (fields[name] === undefined && bag[name] !== undefined) fields = { ...fields, [name]: bag[name] };
  for (const path of kind.respelled) {
    const text = valueAt(bag, path);
    const value = valueAt(answer, path);
    if (typeof text === "string" && text !== value && !isUidp(text) && isUidp(value)) texts[path] = { text, value };
  }
  if (Object.keys(secrets).length > 0) fields = { ...fields, [SECRETS]: secrets };
  return Object.keys(texts).length > 0 ? { ...fields, [GIVEN]: texts } : fields;
};

/** Arguments without their secrets: a record that this create did not produce may have other secrets. */
export const withoutSecrets = (kind: Kind, args: Json): Json => withoutPaths(args, secretPaths(kind));
