// The properties that differ, by their paths: `claimMatch.subject`, `capabilities[1]`, `environment["LOG-LEVEL"]`. Each is compared with
// the record as last observed, in normal form (provider/record/desired.ts).

import { SERVICE } from "../client/preview-marks.ts";
import { type Binding, bindingsIn, grants, pairsIn, settingsOf } from "../provider/kind/pair.ts";
import { lostOutputs } from "../provider/reconcile/incomplete.ts";
import type { DiffResult } from "../provider/reconcile/index.ts";
import { type ChangedMember, changedMembers, desiredFrom } from "../provider/record/desired.ts";
import { placeOfRecord } from "../provider/record/id.ts";
import type { Kind } from "../provider/record/kind.ts";
import { argumentOf, changedSwitches } from "../provider/record/state.ts";
import { planOf } from "../provider/set/plan.ts";
import { isUnknown } from "../pulumi/value.ts";
import { isWithin, type Json } from "../schema/index.ts";

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

const at = (holder: unknown, path: ChangedMember["path"]): unknown =>
  path.reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? (value as Json)[name] : undefined),
    holder,
  );

/** As the engine writes property paths (github.com/pulumi/pulumi/sdk/go/common/resource/property_path.go). */
const pathText = (path: ChangedMember["path"]): string =>
  path.reduce<string>((text, segment) => {
    if (typeof segment === "number") return `${text}[${segment}]`;
    if (!/^[A-Za-z_$][\w$]*$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === "" ? segment : `${text}.${segment}`;
  }, "");
