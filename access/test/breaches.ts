// The access of identities in the organization of a test: at a group, through it and the groups above, or anywhere.

import { capabilities } from "../../schema/index.ts";
import { matchesCapability } from "../capability.ts";
import { byEffect, type Weight, worstFirst } from "../graph/danger.ts";
import { type AccessGraph, lineageOf, type NodeId, nameOf, pathOf } from "../graph/graph.ts";
import { memoized } from "../paths/world.ts";
import type { FindingList } from "../review/report.ts";
import { textOfList } from "../review/rule.ts";
import { shortList } from "../text.ts";
import type { Actor, TestContext } from "./scene.ts";

// Why a test fails: a text, and its access. The reasons before and after a change are compared by that access, because a change may edit
// the names in a text.

export interface Reason {
  text: string;
  /** the beginning of the text, which several reasons may share: `platform/ci can` */
  lead?: string;
  /** of the access; absent: unknown */
  weight?: Weight;
  /** who holds too much, or too little, and where; absent: the text contains everything */
  about?: { who: string; group: NodeId; capabilities: readonly string[] };
  /** only the first of several reasons with one title is shown */
  title?: string;
  /** it is unknown whether the test fails: shown if nothing else is found */
  isUnseen?: true;
}

const SHOWN = 5;

/** An unknown weight counts as the worst. */
const UNKNOWN: Weight = { capabilities: "unknown", place: "/", texts: [] };

/** A sentence, the worst first. If there are several reasons, also a list, whose sentence is their common beginning. */
export const reasonText = (reasons: readonly Reason[]): { reason: string; list?: FindingList } => {
  const found = reasons.filter(({ isUnseen }) => !isUnseen);
  const titled = Map.groupBy(found.length > 0 ? found : reasons, ({ title, text }) => title ?? text);
  const firsts = [...titled.values()].map(([one]) => one as Reason);
  const inOrder = worstFirst(firsts, ({ weight }) => weight ?? UNKNOWN);
  const { lead = "" } = inOrder[0] ?? {};
  const shared = inOrder.every((one) => one.lead === lead) ? lead : "";
  const texts = inOrder.slice(0, SHOWN).map(({ text }) => (shared === "" ? text : text.slice(shared.length + 1)));
  const more = inOrder.length > SHOWN ? [`and ${inOrder.length - SHOWN} more`] : [];
  const { message: reason, list } = textOfList(shared, [...texts, ...more]);
  return { reason, ...(list && { list: { ...list, lead: shared === "" ? "It fails, because:" : `${shared}:` } }) };
};

/**
 * The reasons that a change adds: access that was already held before, at the group or above, is not new. `graph` is the graph after the
 * change.
 */
export const newReasons = (reasons: readonly Reason[], before: readonly Reason[], graph: AccessGraph): Reason[] => {
  const texts = new Set(before.map(({ text }) => text));
  const held = new Set(before.flatMap(({ about }) => (about ? keysOf(about, about.group) : [])));
  return reasons.filter(({ text, about }) => {
    if (about === undefined) return !texts.has(text);
    const known = lineageOf(graph, about.group).map((group) => keysOf(about, group));
    return about.capabilities.some((_, i) => !known.some((keys) => held.has(keys[i] as string)));
  });
};

const keysOf = ({ who, capabilities }: NonNullable<Reason["about"]>, group: NodeId) =>
  capabilities.map((capability) => JSON.stringify([who, group, capability]));

/** Whether a binding at `group` counts for a test at `place`; without a place, anywhere. */
export const counts = (
  { graph, organizations }: TestContext,
  place: NodeId | undefined,
): ((group: NodeId) => boolean) => {
  if (place === undefined) return memoized((group) => organizations.has(lineageOf(graph, group).at(-1) ?? group));
  const lineage = new Set(lineageOf(graph, place));
  return (group) => lineage.has(group);
};

/** The access of an actor to these capabilities, a reason for each binding. A role that cannot be read may grant all of them. */
export const breachFinder = (
  context: TestContext,
  denied: readonly string[],
  place: NodeId | undefined,
): ((actor: Actor) => Reason[]) => {
  const { access, graph } = context;
  const isHere = counts(context, place);
  const capabilitiesOf = (role: NodeId) => graph.roles.get(role)?.capabilities ?? [];
  const deniedCapabilities = memoized((role: NodeId) =>
    capabilitiesOf(role)
      .filter((one) => denied.some((text) => matchesCapability(text, one)))
      .toSorted(byEffect),
  );
  return ({ identity, words }) =>
    access
      .bindingsOf(identity)
      .filter(({ group }) => isHere(group))
      .flatMap(({ id, group, role }): Reason[] => {
        const [where, how] = [pathOf(graph, group), bindingText(context, role, id)];
        const about = { who: identity, group };
        if (capabilitiesOf(role).length === 0)
          return [
            {
              text: `what ${words} can at ${where} is not visible, ${how}, whose capabilities cannot be read`,
              about: { ...about, capabilities: [`those of ${role}`] },
            },
          ];
        const names = deniedCapabilities(role);
        if (names.length === 0) return [];
        const lead = `${words} can`;
        const text = `${lead} ${shortList(names, CAPABILITIES_SHOWN)} at ${where}, ${how}`;
        const weight = { capabilities: names, place: where, texts: [text] };
        return [{ lead, text, weight, about: { ...about, capabilities: names } }];
      });
};

const CAPABILITIES_SHOWN = 5;

const bindingText = ({ graph }: TestContext, role: NodeId, binding: NodeId) => {
  const { uid } = graph.bindings.get(binding) ?? {};
  return `by its binding to ${nameOf(graph.roles, role)}${uid ? ` (${uid})` : ""}`;
};

/** Why a test that found nothing cannot pass; empty: everything that it covers is known. */
export const findUnseen = (context: TestContext, place: NodeId | undefined, isAboutAll: boolean): Reason[] => {
  const { graph, notVisible, notKnown = [] } = context;
  const counted = counts(context, place);
  // Without a group: the service does not answer the list at all.
  const isHere = (group: NodeId) => group === "" || counted(group);
  const hidden = notVisible.filter(({ kind, group }) => {
    // A binding shows its identity; a role that cannot be read is reported with its binding.
    if (kind === "identity" || kind === "role") return false;
    if (kind === "group") return place === undefined && isHere(group);
    return (kind === "roleBinding" || isAboutAll) && isHere(group);
  });
  return [
    ...hidden.map(({ group, message }) => `not visible at ${pathOf(graph, group)}: ${message}`),
    ...notKnown.map((message) => `not known: ${message}`),
  ].map((text) => ({ text, isUnseen: true }));
};

/** The capabilities that none of the actors certainly holds. */
export const missingOf = (
  context: TestContext,
  { actors, words }: { actors: readonly Actor[]; words: string },
  wanted: readonly string[],
  place: NodeId | undefined,
): Reason[] => {
  const { access, graph } = context;
  const isHere = counts(context, place);
  const held = new Set(
    actors
      .filter(({ isCertain }) => isCertain)
      .flatMap(({ identity }) => access.grantsOf(identity))
      .filter(({ group }) => isHere(group))
      .map(({ capability }) => capability),
  );
  const missing = [...new Set(wanted.flatMap(namesOf))].filter((one) => !held.has(one)).sort(byEffect);
  if (missing.length === 0) return [];
  const where =
    place === undefined ? "anywhere" : `at ${graph.groups.has(place) ? pathOf(graph, place) : "a group that is gone"}`;
  const unseen = findUnseen(context, place, false);
  const perhaps = unseen.length === 0 ? "" : ` (${unseen.map(({ text }) => text).join("; ")})`;
  const text = `${words} cannot ${missing.slice(0, CAPABILITIES_SHOWN).join(", ")} ${where}${perhaps}`;
  // Missing access comes after excess access.
  return [{ text, weight: { texts: [] }, about: { who: "nobody", group: place ?? "anywhere", capabilities: missing } }];
};

/** A wildcard stands for every capability that a role may have. */
const namesOf = (text: string) =>
  text.includes("*")
    ? capabilities
        .filter(({ name, internalOnly, deprecated }) => !internalOnly && !deprecated && matchesCapability(text, name))
        .map(({ name }) => name)
    : [text];
