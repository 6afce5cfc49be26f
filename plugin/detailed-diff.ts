// The properties that differ, by their paths: `claimMatch.subject`, `capabilities[1]`, `environment["LOG-LEVEL"]`. Each is compared with
// the record as last observed, in normal form (provider/record/desired.ts).

import { type PlannedAdoption, SERVICE } from "../client/preview-marks.ts";
import { type Binding, bindingsIn, grants, pairsIn, settingsOf } from "../provider/kind/pair.ts";
import { lostOutputs } from "../provider/reconcile/incomplete.ts";
import type { DiffResult } from "../provider/reconcile/index.ts";
import { type ChangedMember, changedMembers, desiredFrom } from "../provider/record/desired.ts";
import { knownUid, placeOfRecord } from "../provider/record/id.ts";
import { type Kind, outputNames, referencesOf } from "../provider/record/kind.ts";
import { choicesOf, secretPaths, withValueAt } from "../provider/record/normal-form.ts";
import { argumentOf, argumentsIn, changedSwitches, outputOf } from "../provider/record/state.ts";
import { planOf } from "../provider/set/plan.ts";
import { isUnknown, UNKNOWN } from "../pulumi/value.ts";
import { isObject, isUidp, isWithin, type Json, normalForm, valueAt } from "../schema/index.ts";

export type Change = ChangedMember["change"];

interface PropertyChange {
  change: Change;
  isReplacement: boolean;
  /** the program's own inputs differ there; otherwise the record differs from them */
  isInput: boolean;
}

export type DetailedDiff = ReadonlyMap<string, PropertyChange>;

export interface Compared {
  id: string;
  /** outputs as last observed */
  olds: Json;
  /** outputs in the state, if the current ones differ from them */
  stored?: Json;
  /** inputs */
  news: Json;
  oldInputs: Json;
  result: DiffResult;
}

/** The detailed diff of a record. */
export const detailedDiff = (kind: Kind, compared: Compared): DetailedDiff => {
  const { id, olds, news, result } = compared;
  if (!result.changes) return new Map();
  if (result.isGone) return GONE;
  const desired = desiredFrom(kind, news);
  const { args } = desired;
  const members = changedMembers(desired, olds).map(
    ({ path: [field = "", ...rest], change }): ChangedMember => ({
      path: [argumentOf(kind, String(field)), ...rest],
      change,
    }),
  );
  const place = placeOfRecord(kind, id);
  const moved: ChangedMember[] =
    place === desired.parent ? [] : [{ path: ["parent"], change: changeBetween(place || undefined, args.parent) }];
  const lost = lostOutputs(kind, olds).map((name): ChangedMember => ({ path: [name], change: "add" }));
  const switches = changedSwitches(olds, args).map(
    (name): ChangedMember => ({ path: [name], change: changeBetween(olds[name], args[name]) }),
  );
  const names: ChangedMember[] = kind.holdsSecret?.(olds, args) ? [{ path: ["names"], change: "update" }] : [];
  return diffFrom([...moved, ...members, ...lost, ...switches, ...names], compared, result.replaces);
};

/** The detailed diff of a set of role bindings: its pairs, by their places in the program or in the state. */
export const detailedSetDiff = (compared: Compared): DetailedDiff => {
  const { id, olds, news, result } = compared;
  if (result.isGone) return GONE;
  if (news.parent !== id) return diffFrom([{ path: ["parent"], change: "update" }], compared, result.replaces);
  const settings = Object.entries(settingsOf(news)).flatMap(([name, value]): ChangedMember[] => {
    const before = settingsOf(olds)[name as "exclusive"];
    return before === value ? [] : [{ path: [name], change: changeBetween(olds[name], news[name]) }];
  });
  if (isUnknown(news.bindings)) return diffFrom([{ path: ["bindings"], change: "update" }, ...settings], compared, []);
  const plan = planOf(olds, news);
  const managed = bindingsIn(olds, "bindings");
  const deletionsFrom = (member: string, all: readonly Binding[], removals: readonly Binding[]) =>
    removals.flatMap((one): ChangedMember[] => {
      const index = all.indexOf(one);
      return index === -1 ? [] : [{ path: [member, index], change: "delete" }];
    });
  const managedRemovals = deletionsFrom("bindings", managed, [...plan.dropped, ...plan.twins]);
  const otherRemovals = deletionsFrom("unmanaged", bindingsIn(olds, "unmanaged"), [...plan.undeclared, ...plan.twins]);
  const additions = pairsIn(news).flatMap((pair, index): ChangedMember[] =>
    managed.some((one) => grants(one, pair)) ? [] : [{ path: ["bindings", index], change: "add" }],
  );
  return diffFrom([...managedRemovals, ...otherRemovals, ...additions, ...settings], compared, []);
};

/** Another record is created, with another uid. */
const GONE: DetailedDiff = new Map([["uid", { change: "update", isReplacement: true, isInput: false }]]);

/** How a value changes; the two differ. */
export const changeBetween = (before: unknown, after: unknown): Change =>
  before === undefined ? "add" : after === undefined ? "delete" : "update";

const diffFrom = (
  found: readonly ChangedMember[],
  { oldInputs, news, olds, stored = olds, result }: Compared,
  replaces: readonly string[],
): DetailedDiff => {
  const detailed = new Map<string, PropertyChange>();
  for (const { path, change } of found) {
    const text = pathText(path);
    // One item is removed and another one is added at the same place.
    const before = detailed.get(text)?.change;
    const isInput = JSON.stringify(at(oldInputs, path)) !== JSON.stringify(at(news, path));
    const isReplacement = replaces.some((name) => isWithin(text, name) || text.startsWith(`${name}[`));
    detailed.set(text, {
      change: before === undefined || before === change ? change : "update",
      isReplacement,
      isInput,
    });
  }
  // The service has moved, the state differs from the record, or an argument is replaced although it does not differ.
  const others = Object.keys(olds).filter((name) => JSON.stringify(olds[name]) !== JSON.stringify(stored[name]));
  if (detailed.size === 0 && result.changes)
    for (const name of [replaces, others, [SERVICE]].find(({ length }) => length > 0) as string[])
      detailed.set(name, { change: "update", isReplacement: replaces.length > 0, isInput: true });
  return detailed;
};

/** The member of a resource that a path is within. */
export const memberIn = (path: string): string => path.replace(/[.[].*$/s, "");

const at = (holder: unknown, path: ChangedMember["path"]) =>
  path.reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? (value as Json)[name] : undefined),
    holder,
  );

/** As the engine writes property paths (github.com/pulumi/pulumi/sdk/go/common/resource/property_path.go). */
const pathText = (path: ChangedMember["path"]) =>
  path.reduce<string>((text, segment) => {
    if (typeof segment === "number") return `${text}[${segment}]`;
    if (!/^[A-Za-z_$][\w$]*$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === "" ? segment : `${text}.${segment}`;
  }, "");

// The outputs that a preview shows: the values that the program gives, and those that the record already has.

/** The outputs of the record that a resource would create from these inputs, or adopt. */
export const plannedCreate = (kind: Kind, news: Json, taken: PlannedAdoption | undefined): Json => {
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
const isAnsweredInFull = (kind: Kind, name: string) =>
  referencesOf(kind).some(({ path }) => path !== name && outputOf(kind, path) === name);

const recordOf = (given: unknown) => (isUidp(given) ? { uid: given, name: UNKNOWN } : { uid: UNKNOWN, name: given });

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
