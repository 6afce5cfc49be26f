// Why a test fails: a text, and the access that it is about. A change is compared with what was there before it by that access, since a
// text has names that a change may edit.
import { type AccessGraph, lineageOf, type NodeId } from "../graph/graph.ts";

export interface Reason {
  text: string;
  /** who holds too much, or too little, and where; absent: the text says it all */
  about?: { who: string; group: NodeId; capabilities: readonly string[] };
  /** of several reasons of one title only the first is shown */
  title?: string;
  /** it is not known whether the test fails: shown where nothing else is found */
  isUnseen?: true;
}

const SHOWN = 5;

export const reasonText = (reasons: readonly Reason[]): string => {
  const found = reasons.filter(({ isUnseen }) => !isUnseen);
  const titled = Map.groupBy(found.length > 0 ? found : reasons, ({ title, text }) => title ?? text);
  const texts = [...titled.values()].map(([one]) => (one as Reason).text);
  const more = texts.length > SHOWN ? [`and ${texts.length - SHOWN} more`] : [];
  return [...texts.slice(0, SHOWN), ...more].join("; ");
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
