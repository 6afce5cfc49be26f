// The records that differ between the program and the service: an update of the unchanged program would change them.

import type { StateResource } from "../../pulumi/state.ts";
import { ourTypeOf, partsOfUrn } from "../../pulumi/urn.ts";
import { SECRET, UNKNOWN, valuesIn } from "../../pulumi/value.ts";
import {
  type Resource as Descriptor,
  isObject,
  isUidp,
  type Json,
  parentOf,
  printable,
  resources,
} from "../../schema/index.ts";
import type { Change, Difference, Drift } from "../format/drift.ts";
import { type Capabilities, worstFirst } from "../graph/danger.ts";
import { type AccessGraph, pathOf } from "../graph/graph.ts";
import { bindingsOf, managedIn } from "../run/stack.ts";
import { differencesOf, mapTexts } from "./differences.ts";
import { type DriftFacts, type DriftService, reachIn } from "./facts.ts";
import { baseOf, builtInRoles, recordsOf, roleIn, SET, type Sent, sendingOf, shownBy } from "./sent.ts";

const COMPONENT = "AccessPolicy";

/** Ordered by significance: the first step that a resource has counts. */
const CHANGES: readonly (readonly [Change | "created", readonly string[]])[] = [
  ["replaced", ["replace", "create-replacement", "import-replacement"]],
  ["created", ["create", "import"]],
  ["dropped", ["delete", "delete-replaced"]],
];

export const driftIn = ({ run, preview }: DriftFacts, service: DriftService) => {
  const { normal } = run;
  const live = service.live.graph;
  const isOwn = ({ urn }: { urn: string }) => ![undefined, COMPONENT].includes(ourTypeOf(urn)) && service.isHere(urn);
  const [stored, left, steps] = [run.stored.filter(isOwn), run.left.filter(isOwn), run.steps.filter(isOwn)];
  const recordOf = recordsOf(service.copy, normal);
  const writes = normal.writes.filter(({ service: at }) =>
    at === undefined ? service.isFirst : at === service.address,
  );
  const sending = sendingOf({ normal, writes, recordOf, stored, left });
  const planned = new Map(preview.steps.flatMap(({ urn, newState }) => (newState ? [[urn, newState] as const] : [])));
  const opsOf = Map.groupBy(steps, ({ urn }) => urn);
  const olds = new Map(stored.toSorted(leftoversFirst).map((one) => [one.urn, one]));
  const news = new Map(left.toSorted(leftoversFirst).map((one) => [one.urn, one]));
  const shown = shownBy(normal);
  const inputsOf = (state: Json | undefined): Json => shown(inputsIn(state)) as Json;
  const declared = new Set(managedIn(stored).flatMap((one) => bindingsOf(one).map(({ id }) => id)));
  const builtIn = builtInRoles(live);
  /** URN of the set that removes an undeclared role binding, by uid of the binding */
  const removed = new Map<string, string>();
  const reachOf = reachIn(live);

  const rowOf = (urn: string): { one: Drift; capabilities: Capabilities } | undefined => {
    const type = ourTypeOf(urn) as string;
    const ops = (opsOf.get(urn) ?? []).map(({ op }) => op);
    const sent = sending.byUrn.get(urn) ?? [];
    const step = CHANGES.find(([, own]) => ops.some((op) => own.includes(op)))?.[0] ?? (sent.length > 0 && "changed");
    if (!step) return undefined;
    const now = news.get(urn);
    // With an alias, the resource has another URN.
    const old = olds.get(urn) ?? stored.find((one) => now?.id && one.id === now.id && ourTypeOf(one.urn) === type);
    const has = (uid: unknown): uid is string =>
      isUidp(uid) && (type === SET ? live.groups.has(uid) : recordOf(type, uid) !== undefined);
    const change = step === "created" ? (old?.id && !has(old.id) ? "gone" : "new") : step;
    const program = inputsOf(now ?? planned.get(urn));
    // An interrupted replacement has left a second record.
    const going = sent.find(({ verb, uid }) => verb === "delete" && type !== SET && uid !== now?.id)?.uid;
    const taken = [now?.id, program.adopt].find((uid) => type !== SET && has(uid)) as string | undefined;
    const uid =
      change === "new"
        ? (taken ?? [program.adopt].find(isUidp))
        : ((change === "dropped" ? going : undefined) ?? old?.id);
    const record = isUidp(uid) ? recordOf(type, uid) : undefined;
    const isChange = change === "changed" || change === "replaced";
    const isMoved = change === "replaced" && typeof old?.id === "string";
    const places = isMoved
      ? { program: { parent: program.parent }, live: { parent: parentGroup(type, old.id as string) } }
      : {};
    const sides = { old, sent, record, builtIn, places };
    const differences = !isChange ? [] : type === SET ? ofSet(sides) : ofRecord(type, sides);
    if (type === SET)
      for (const { verb, uid: binding } of sent)
        if (verb === "delete" && !declared.has(binding)) removed.set(binding, urn);
    const hidden = [old, now].some((state) => inputsIn(state).name === SECRET);
    const held = change === "new" ? undefined : record;
    const values = { ...inputsOf(old), ...program, ...held, ...(hidden && { name: SECRET }) };
    const names = namesIn(differences, live);
    const one: Drift = {
      resource: urn,
      kind: wordOf(type),
      uid: typeof uid === "string" ? uid : null,
      name: nameOf(type, values, live),
      groupName: groupNameOf(type, typeof uid === "string" ? uid : null, program, live),
      change,
      differences,
      ...(Object.keys(names).length > 0 && { names }),
    };
    return { one, capabilities: reachOf(one.uid, type === SET && isChange ? differences : [program, held]) };
  };

  const urns = new Set([...stored, ...left, ...steps].map(({ urn }) => urn));
  const inOrder = worstFirst(
    [...urns].flatMap((urn) => rowOf(urn) ?? []),
    ({ one: { groupName, change, resource }, capabilities }) => ({
      capabilities,
      place: groupName ?? undefined,
      texts: [String(ORDER.indexOf(change)), resource],
    }),
  );
  return { drift: inOrder.map(({ one }) => one), removed, unexplained: sending.others.map(unexplainedText) };
};

const inputsIn = (state: Json | undefined) => valuesIn(state?.inputs as Json | undefined);

/** A new record has another uid on the service. */
const unexplainedText = ({ resource: { word }, verb, uid }: Sent) =>
  `${verb === "create" ? `a new ${word} in ${parentOf(uid)}` : `${word} ${uid}`}: the update ${verb}s it, and no resource of the stack has it`;

/** A leftover of a replacement has the URN of its successor, which takes precedence. */
const leftoversFirst = (a: StateResource, b: StateResource) => Number(b.delete === true) - Number(a.delete === true);

/** Records that only one side has come before records with other values. */
const ORDER: readonly Change[] = ["gone", "dropped", "replaced", "changed", "new"];

interface Sides {
  old: StateResource | undefined;
  sent: readonly Sent[];
  /** before the run */
  record: Json | undefined;
  builtIn: ReadonlyMap<string, string>;
  /** of a replacement */
  places: { program?: Json; live?: Json };
}

const ofRecord = (type: string, { old, sent, record, builtIn, places }: Sides): Difference[] => {
  const resource = Object.values<Descriptor>(resources).find((one) => one.type === type) as Descriptor;
  const bag = { inputs: inputsIn(old), outputs: valuesIn(old?.outputs as Json) };
  const base = old && { parent: bag.inputs.parent, ...baseOf(resource, bag, builtIn) };
  // The service chooses values that neither the program nor the last update sets.
  const chosen = (program: Json): Json =>
    Object.fromEntries(
      Object.entries(record ?? {}).filter(([name]) => name in program || bag.inputs[name] !== undefined),
    );
  const found = sent.flatMap(({ verb, program, live }) => {
    if (program === undefined) return [];
    const other = verb === "create" ? chosen(program) : (live as Json);
    return differencesOf({ ...program, ...places.program }, { ...other, ...places.live }, base);
  });
  return found.map((one) => withRoleNames(one, builtIn));
};

/** An element for each grant that the set creates or removes. */
const ofSet = ({ old, sent, builtIn, places }: Sides): Difference[] => {
  const pairsOf = (side: "program" | "live") =>
    sent.flatMap(({ [side]: own }) => (own ? [{ identity: own.identity, role: own.role }] : []));
  const { bindings, parent } = inputsIn(old);
  const base = Array.isArray(bindings)
    ? bindings.map((pair) => (isObject(pair) ? { identity: pair.identity, role: roleIn(pair.role, builtIn) } : pair))
    : bindings;
  return differencesOf(
    { ...places.program, bindings: pairsOf("program") },
    { ...places.live, bindings: pairsOf("live") },
    old && { parent, bindings: base },
  ).map((one) => withRoleNames(one, builtIn));
};

/** Shows built-in roles by name, as programs write them. */
const withRoleNames = (one: Difference, builtIn: ReadonlyMap<string, string>): Difference => {
  const names = new Map([...builtIn].map(([name, uid]) => [uid, name]));
  return { ...one, program: mapTexts(one.program, (text) => names.get(text) ?? text) };
};

/** The word for a type of ours: `role binding set`. */
export const wordOf = (type: string): string =>
  Object.values(resources).find((one) => one.type === type)?.word ??
  type.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

/** `group team`, with the name in the program. */
export const subjectOf = (urn: string): string =>
  `${wordOf(ourTypeOf(urn) ?? "resource")} ${printable(partsOfUrn(urn).name)}`;

/** A role binding has no name, so its pair stands for it; for a set, its group. */
const nameOf = (type: string, values: Json, live: AccessGraph) => {
  const [name, identity, role] = [values.name, uidIn(values.identity), uidIn(values.role)];
  if (type === SET) return null;
  if (type === resources.roleBinding.type && identity !== undefined && role !== undefined)
    return `${live.identities.get(identity)?.name ?? identity} as ${live.roles.get(role)?.name ?? role}`;
  return typeof name === "string" && !name.includes(UNKNOWN) ? name : null;
};

const uidIn = (value: unknown) => (typeof value === "string" && !value.includes(UNKNOWN) ? value : undefined);

/** The group that holds a record. A set is in the group whose uid it has. */
const parentGroup = (type: string, uid: string) => (hasUidOfGroup(type) ? uid : parentOf(uid));

const groupNameOf = (type: string, uid: string | null, { parent }: Json, live: AccessGraph) => {
  const group = uid === null ? parent : type === resources.group.type ? uid : parentGroup(type, uid);
  // A mapping is in the group of its identity provider.
  const known = [group, typeof group === "string" ? parentOf(group) : undefined].find(
    (one): one is string => typeof one === "string" && live.groups.has(one),
  );
  return known === undefined ? null : pathOf(live, known);
};

const hasUidOfGroup = (type: string) =>
  type === SET || Object.values<Descriptor>(resources).some((one) => one.type === type && one.list.sharesUid === true);

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
