// Why a test fails: a text, and the access that it is about. A change is compared with what was there before it by that access, since a
// text has names that a change may edit.

import { type Weight, worstFirst } from "../graph/danger.ts";
import { type AccessGraph, lineageOf, type NodeId } from "../graph/graph.ts";
import type { FindingList } from "../review/report.ts";
import { textOfList } from "../review/rule.ts";

export interface Reason {
  text: string;
  /** what the text begins with, which several reasons may share: `platform/ci can` */
  lead?: string;
  /** of what is held; absent: not known */
  weight?: Weight;
  /** who holds too much, or too little, and where; absent: the text says it all */
  about?: { who: string; group: NodeId; capabilities: readonly string[] };
  /** of several reasons of one title only the first is shown */
  title?: string;
  /** it is not known whether the test fails: shown where nothing else is found */
  isUnseen?: true;
}

const SHOWN = 5;

/** What is not known counts as the worst. */
const UNKNOWN: Weight = { capabilities: "unknown", place: "/", texts: [] };

/** A sentence, the worst first; where there are several reasons, also a list whose sentence has what all of them begin with. */
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

/** The reasons that a change brings: what held before it, at the same group or above, is not new. `graph` is that after the change. */
export const newReasons = (reasons: readonly Reason[], before: readonly Reason[], graph: AccessGraph): Reason[] => {
  const texts = new Set(before.map(({ text }) => text));
  const held = new Set(before.flatMap(({ about }) => (about ? keysOf(about, about.group) : [])));
  return reasons.filter(({ text, about }) => {
    if (about === undefined) return !texts.has(text);
    const known = lineageOf(graph, about.group).map((group) => keysOf(about, group));
    return about.capabilities.some((_, i) => !known.some((keys) => held.has(keys[i] as string)));
  });
};

const keysOf = ({ who, capabilities }: NonNullable<Reason["about"]>, group: NodeId): string[] =>
  capabilities.map((capability) => JSON.stringify([who, group, capability]));
