// The records that the program and the service have in different ways: what the next update would do, after the engine has read every
// record. Its step shows the program's values, and in its old state the service's.
import { isPlaceholder } from "../../client/placeholder-uid.ts";
import { TAKEN_OVER } from "../../client/preview-marks.ts";
import { type Resource as Descriptor, isObject, isUidp, type Json, parentOf, resources } from "../../schema/index.ts";
import { type AccessGraph, pathOf } from "../graph/graph.ts";
import { keyOfPair, removableIn } from "../preview/set.ts";
import type { Preview, State, Step } from "../preview/shape.ts";
import { ourTypeOf } from "../preview/urn.ts";
import { isOrMayBe, valuesIn } from "../preview/value.ts";
import { type Capabilities, worstFirst } from "../review/danger.ts";
import { differencesOf } from "./differences.ts";
import { reachIn } from "./reach.ts";
import type { Change, Difference, Drift } from "./report.ts";

const SET = "RoleBindingSet";
const COMPONENT = "AccessPolicy";

/** The steps that change nothing at the service. The engine shows each replacement in three of them. */
const SILENT = ["same", "refresh", "read", "read-replacement", "discard", "discard-replaced", "read-discard"];

/** From the step that says most of a resource. What this version does not know is a change. */
const CHANGES: readonly (readonly [Change | "created", (op: string) => boolean])[] = [
  ["replaced", (op) => op === "replace"],
  ["replaced", (op) => op === "create-replacement" || op === "import-replacement"],
  ["created", (op) => op === "create" || op === "import"],
  ["dropped", (op) => op === "delete" || op === "delete-replaced"],
  ["changed", (op) => !SILENT.includes(op) && op !== "remove-pending-replace"],
];

export interface FoundDrift {
  drift: Drift[];
  /** URN of the set that removes a role binding, by uid of the binding: nothing declares that binding */
  removed: ReadonlyMap<string, string>;
}

export const driftIn = ({ steps }: Preview, live: AccessGraph): FoundDrift => {
  const ours = steps.filter(({ urn }) => ![undefined, COMPONENT].includes(ourTypeOf(urn)));
  const bases = basesIn(ours);
  const removed = new Map<string, string>();
  const reachOf = reachIn(live);
  const drift = [...Map.groupBy(ours, ({ urn }) => urn)].flatMap(
    ([urn, own]): { one: Drift; capabilities: Capabilities }[] => {
      const most = CHANGES.flatMap(([change, is]) =>
        own.filter(({ op }) => is(op)).map((step) => ({ change, step })),
      )[0];
      if (!most) return [];
      const { change, step } = most;
      const { oldState, newState } = step;
      const type = ourTypeOf(urn) as string;
      const base = bases.byUrn.get(urn) ?? bases.byRecord.get(recordOf(type, oldState));
      const [news, olds] = [newState, oldState].map((state) => valuesIn(state?.inputs)) as [Json, Json];
      const isBoth = change === "changed" || change === "replaced";
      const isOfSet = type === SET && change === "changed";
      const found = isBoth ? differencesOf(news, olds, base && valuesIn(base.inputs)) : [];
      const differences = isOfSet ? found.filter((one) => !isThere(one, oldState?.id, live)) : found;
      if (isOfSet)
        for (const { uid, ...difference } of removalsOf(step, live)) {
          differences.push(difference);
          removed.set(uid, urn);
        }
      if (found.length > 0 && differences.length === 0) return [];
      const uid = oldState?.id ?? takenOver(newState) ?? base?.id ?? null;
      const names = namesIn(differences, live);
      const one: Drift = {
        resource: urn,
        kind: wordOf(type),
        uid,
        name: nameOf(type, change === "created" ? news : { ...olds, ...valuesIn(oldState?.outputs) }, live),
        groupName: groupNameOf(type, uid, news, live),
        change: change === "created" ? (base ? "gone" : "new") : change,
        differences,
        ...(Object.keys(names).length > 0 && { names }),
      };
      return [{ one, capabilities: reachOf(uid, isOfSet ? differences : [news, olds]) }];
    },
  );
  const inOrder = worstFirst(drift, ({ one: { groupName, change, resource }, capabilities }) => ({
    capabilities,
    place: groupName ?? undefined,
    texts: [String(ORDER.indexOf(change)), resource],
  }));
  return { drift: inOrder.map(({ one }) => one), removed };
};

/** What is there and should not be, or the other way around, comes before what has other values. */
const ORDER: readonly Change[] = ["gone", "dropped", "replaced", "changed", "new"];

/** What the refresh has found in the engine's state. An alias leaves the URN of that one as it was. */
const basesIn = (steps: readonly Step[]) => {
  const refreshed = steps.filter(({ op, oldState }) => op === "refresh" && oldState?.id);
  return {
    byUrn: new Map(refreshed.map(({ urn, oldState }) => [urn, oldState as State])),
    byRecord: new Map(
      refreshed.map(({ urn, oldState }) => [recordOf(ourTypeOf(urn) as string, oldState), oldState as State]),
    ),
  };
};

const recordOf = (type: string, state: State | null | undefined): string => `${type} ${state?.id ?? ""}`;

/** The record that a create would take over: the program adopts it, or an interrupted run has made it. */
const takenOver = (state: State | null | undefined): string | undefined => {
  const { adopt, [TAKEN_OVER]: taken } = valuesIn(state?.inputs);
  return [(taken as Json | undefined)?.uid, adopt].find((one): one is string => isUidp(one) && !isPlaceholder(one));
};

/** The role bindings that an exclusive set removes: others have added them. */
const removalsOf = ({ oldState, newState }: Step, { roles }: AccessGraph): (Difference & { uid: string })[] => {
  const [inputs, outputs] = [valuesIn(newState?.inputs), valuesIn(oldState?.outputs)];
  if (!isOrMayBe(inputs.exclusive) || !isOrMayBe(outputs.exclusive) || !oldState?.id) return [];
  const pairs = Array.isArray(inputs.bindings) ? (inputs.bindings as { identity?: string; role?: string }[]) : [];
  const declared = new Set(pairs.map(keyOfPair));
  return removableIn(outputs, oldState.id)
    .map(({ id, identity, role }) => {
      const { group, name } = roles.get(role) ?? {};
      return { uid: id, keys: [role, group === null ? name : undefined], identity, role };
    })
    .filter(({ identity, keys }) => !keys.some((role) => role && declared.has(keyOfPair({ identity, role }))))
    .map(({ uid, identity, role }) => {
      const difference = { path: "bindings", program: null, live: { identity, role } };
      return { uid, ...difference, changedIn: "service" as const };
    });
};

/** A pair that somebody has removed and granted again, under another uid: the next update takes it over and creates nothing. */
const isThere = ({ path, program, live: other }: Difference, group: State["id"], live: AccessGraph): boolean => {
  if (path !== "bindings" || other !== null || !isObject(program)) return false;
  return [...live.bindings.values()].some((one) => {
    if (one.group !== group || one.identity !== program.identity) return false;
    const { group: owner, name } = live.roles.get(one.role) ?? {};
    return one.role === program.role || (owner === null && name === program.role);
  });
};

/** The word for a type of ours: `role binding set`. */
export const wordOf = (type: string): string =>
  Object.values(resources).find((one) => one.type === type)?.word ??
  type.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

/** A role binding has none, so its pair stands for it; a set, its group. */
const nameOf = (type: string, values: Json, live: AccessGraph): string | null => {
  const [name, identity, role] = [values.name, uidIn(values.identity), uidIn(values.role)];
  if (type === SET) return null;
  if (type === resources.roleBinding.type && identity !== undefined && role !== undefined)
    return `${live.identities.get(identity)?.name ?? identity} as ${live.roles.get(role)?.name ?? role}`;
  return typeof name === "string" ? name : null;
};

/** The outputs of a role binding have uid and name of what it refers to, and its inputs the uid. */
const uidIn = (value: unknown): string | undefined => {
  const uid = typeof value === "object" ? (value as Json | null)?.uid : value;
  return typeof uid === "string" && !isPlaceholder(uid) ? uid : undefined;
};

const groupNameOf = (type: string, uid: string | null, { parent }: Json, live: AccessGraph): string | null => {
  const group = uid === null ? parent : hasUidOfGroup(type) ? uid : parentOf(uid);
  // A mapping is in the group of its identity provider.
  const known = [group, typeof group === "string" ? parentOf(group) : undefined].find(
    (one): one is string => typeof one === "string" && live.groups.has(one),
  );
  return known === undefined ? null : pathOf(live, known);
};

const hasUidOfGroup = (type: string): boolean =>
  type === SET ||
  type === resources.group.type ||
  Object.values<Descriptor>(resources).some((one) => one.type === type && one.list.sharesUid === true);

const namesIn = (differences: readonly Difference[], live: AccessGraph): Record<string, string> => {
  const uids = new Set(JSON.stringify(differences).match(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g));
  const nodes = [live.identities, live.roles, live.groups, live.providers];
  return Object.fromEntries(
    [...uids].flatMap((uid) => {
      const name = nodes.map((all) => all.get(uid)?.name).find((one) => one !== undefined);
      return name === undefined ? [] : [[uid, name]];
    }),
  );
};
