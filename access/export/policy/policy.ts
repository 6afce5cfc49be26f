// The policy of an export: all that a policy can say without a mistake. What has one, the program beside it declares.
import { parsePolicy } from "../../policy/index.ts";
import type { Mistake } from "../../policy/source.ts";
import type { Export } from "../model.ts";
import type { Entry } from "../value.ts";
import { type Draft, draftPolicy, type Node, type Place } from "./build.ts";

export const policyOf = (all: Export): Draft => {
  const excluded = new Set<Entry>();
  for (;;) {
    const draft = draftPolicy(all, excluded);
    const { mistakes } = parsePolicy(plain(draft.document));
    if (mistakes.length === 0) return draft;
    const wrong = mistakes.flatMap((mistake) => entriesAt(mistake, draft.places));
    // A mistake of the whole, such as its size: the program declares everything.
    for (const entry of wrong.length > 0 ? wrong : draft.places.keys()) excluded.add(entry);
    if (draft.places.size === 0) return draft;
  }
};

/** The entries whose part of the policy has the mistake: the innermost group, or the whole row of a role. */
export const entriesAt = ({ path }: Mistake, places: ReadonlyMap<Entry, Place>): Entry[] => {
  const around = [...places].filter(([, place]) => isWithin(path, place.path) || isWithin(place.path, path));
  const longest = Math.max(...around.map(([, place]) => Math.min(place.path.length, path.length)));
  return around.filter(([, place]) => Math.min(place.path.length, path.length) === longest).map(([entry]) => entry);
};

const isWithin = (path: string, outer: string): boolean =>
  path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);

const plain = (node: Node): unknown => {
  if (node instanceof Map) return Object.fromEntries([...node].map(([key, value]) => [key, plain(value)]));
  return Array.isArray(node) ? node.map(plain) : node;
};
