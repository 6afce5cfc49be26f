// The outputs that a preview shows: the values that the program gives, and those that the record already has.
import type { TakenOver } from "../client/preview-marks.ts";
import { bindingsIn, grants, pairsIn, settingsOf } from "../provider/kind/pair.ts";
import { knownUid } from "../provider/record/id.ts";
import { type Kind, outputNames, referencesOf } from "../provider/record/kind.ts";
import { choicesOf, secretPaths, withValueAt } from "../provider/record/normal-form.ts";
import { argumentOf, argumentsIn, outputOf } from "../provider/record/state.ts";
import { isUnknown, UNKNOWN } from "../pulumi/value.ts";
import { isObject, isUidp, isWithin, type Json, normalForm, valueAt } from "../schema/index.ts";
import { type DetailedDiff, memberIn } from "./detailed-diff.ts";

/** The outputs of the record that a resource would create from these inputs, or adopt. */
export const plannedCreate = (kind: Kind, news: Json, taken: TakenOver | undefined): Json => {
  const outputs = outputNames(kind).map((name) => [name, expectedValue(kind, news, name)]);
  return { ...Object.fromEntries(outputs), uid: knownUid(kind, news, taken) ?? UNKNOWN };
};

/** The outputs after an update. It keeps those that it does not change, except the time of the update. */
export const plannedUpdate = (kind: Kind, olds: Json, news: Json, diff: DetailedDiff): Json => {
  const names = new Set([...diff.keys()].map(memberIn));
  const changed = outputNames(kind).filter((name) => names.has(argumentFor(kind, name)));
  const values = changed.map((name) => [name, expectedValue(kind, news, name)]);
  const time = changed.length > 0 && olds.updateTime !== undefined ? { updateTime: UNKNOWN } : {};
  return { ...olds, ...Object.fromEntries(values), ...time };
};

const fieldFor = (kind: Kind, output: string) =>
  Object.keys(kind.schema.shape).find((field) => outputOf(kind, field) === output);

/** The argument that an output comes from. */
const argumentFor = (kind: Kind, output: string) => argumentOf(kind, fieldFor(kind, output) ?? output);

/** The expected value of an output; unknown if the service chooses it. */
const expectedValue = (kind: Kind, news: Json, name: string): unknown => {
  const given = news[argumentFor(kind, name)];
  if (given === undefined || isUnknown(given)) return UNKNOWN;
  if (isAnsweredInFull(kind, name)) return recordOf(given);
  const args = argumentsIn(kind, news);
  const choices = choicesOf(kind, args).filter(
    (path) => path.startsWith(`${name}.`) && valueAt(args, path) === undefined,
  );
  const respelled = [...kind.respelled, ...referencesOf(kind).map(({ path }) => path)].filter(
    (path) => typeof valueAt(args, path) === "string" && !isUidp(valueAt(args, path)),
  );
  const field = fieldFor(kind, name);
  const known = field === undefined ? given : asNormal(given, normalForm(kind.schema, args, UNKNOWN)[field]);
  return [...choices, ...respelled, ...secretPaths(kind)]
    .map((path) => outputOf(kind, path))
    .filter((path) => isWithin(path, name))
    .reduce((record, path) => withValueAt(record, path, UNKNOWN), { [name]: known } as Json)[name];
};

/** Unknown if the service may answer with another spelling, or omit an empty value. */
const asNormal = (given: unknown, normalized: unknown): unknown => {
  if (JSON.stringify(given) === JSON.stringify(normalized)) return given;
  if (!isObject(given) || !isObject(normalized)) return UNKNOWN;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, asNormal(value, normalized[name])]));
};

/** Whether the service answers with the record that an argument names. */
const isAnsweredInFull = (kind: Kind, name: string): boolean =>
  referencesOf(kind).some(({ path }) => path !== name && outputOf(kind, path) === name);

const recordOf = (given: unknown): Json =>
  isUidp(given) ? { uid: given, name: UNKNOWN } : { uid: UNKNOWN, name: given };

/** The outputs of a set of role bindings; `olds` are its outputs so far. */
export const plannedSet = (olds: Json, news: Json): Json => {
  const settings = settingsOf(news);
  const common = {
    uid: news.parent,
    parent: news.parent,
    unmanaged: olds.unmanaged ?? UNKNOWN,
    ...settings,
    updateTime: UNKNOWN,
  };
  if (isUnknown(news.bindings)) return { ...common, bindings: UNKNOWN };
  const managed = bindingsIn(olds, "bindings");
  const bindings = pairsIn(news).map((pair) => {
    const one = managed.find((binding) => grants(binding, pair));
    if (one) return one;
    return { uid: UNKNOWN, identity: recordOf(pair.identity), role: recordOf(pair.role) };
  });
  return { ...common, bindings, ...(settings.exclusive && { unmanaged: UNKNOWN }) };
};
