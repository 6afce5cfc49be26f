// What identities hold in the organization of a test: at a group, through it and the groups above, or anywhere.

import { capabilities } from "../../schema/index.ts";
import { matchesCapability } from "../capability.ts";
import { byEffect } from "../graph/danger.ts";
import { lineageOf, type NodeId, nameOf, pathOf } from "../graph/graph.ts";
import { memoized } from "../paths/world.ts";
import { shortList } from "../text.ts";
import type { Reason } from "./reason.ts";
import type { Actor, TestContext } from "./scene.ts";

/** Whether what is bound at `group` counts for a test at `place`; without a place, anywhere. */
export const counts = (
  { graph, organizations }: TestContext,
  place: NodeId | undefined,
): ((group: NodeId) => boolean) => {
  if (place === undefined) return memoized((group) => organizations.has(lineageOf(graph, group).at(-1) ?? group));
  const lineage = new Set(lineageOf(graph, place));
  return (group) => lineage.has(group);
};

/** What an actor holds of these capabilities, a reason for each binding. A role that cannot be read may grant all of them. */
export const breachFinder = (
  context: TestContext,
  denied: readonly string[],
  place: NodeId | undefined,
): ((actor: Actor) => Reason[]) => {
  const { access, graph } = context;
  const isHere = counts(context, place);
  const capabilitiesOf = memoized((role: NodeId) => graph.roles.get(role)?.capabilities ?? []);
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

const bindingText = ({ graph }: TestContext, role: NodeId, binding: NodeId): string => {
  const { uid } = graph.bindings.get(binding) ?? {};
  return `by its binding to ${nameOf(graph.roles, role)}${uid ? ` (${uid})` : ""}`;
};

/** Why a test that found nothing cannot pass; empty: all that it is about is known. */
export const findUnseen = (context: TestContext, place: NodeId | undefined, isAboutAll: boolean): Reason[] => {
  const { graph, notVisible, notKnown = [] } = context;
  const counted = counts(context, place);
  // Without a group: the service does not answer the list at all.
  const isHere = (group: NodeId): boolean => group === "" || counted(group);
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

/** What none of the actors certainly holds. */
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
  // What somebody lacks comes after what somebody holds.
  return [{ text, weight: { texts: [] }, about: { who: "nobody", group: place ?? "anywhere", capabilities: missing } }];
};

/** A wildcard stands for every capability that a role may have. */
const namesOf = (text: string): string[] =>
  text.includes("*")
    ? capabilities
        .filter(({ name, internalOnly, deprecated }) => !internalOnly && !deprecated && matchesCapability(text, name))
        .map(({ name }) => name)
    : [text];
