// What an update of a set would do, from the state alone: a preview sends no request.
import type { Json } from "../../schema/index.ts";
import { type Binding, bindingsIn, bindingText, type DeclaredPair, grants, pairsIn } from "./pair.ts";
import { settingsOf } from "./settings.ts";

export interface Plan {
  /** declared, and not in the state */
  added: DeclaredPair[];
  /** managed, and not declared any more */
  dropped: Binding[];
  /** never declared: recorded by the last run or refresh, and to be removed by an exclusive set */
  undeclared: Binding[];
  /** what an exclusive set would remove, and keeps on purpose */
  kept: Binding[];
}

/**
 * Whether the set removes what the last run or refresh recorded. The first update of an exclusive set removes nothing: it records what
 * is there, for the next preview.
 */
export const removesRecorded = (olds: Json, news: Json): boolean =>
  settingsOf(news).exclusive && settingsOf(olds).exclusive;

/** `olds` are outputs, `news` inputs. */
export const planOf = (olds: Json, news: Json): Plan => {
  const pairs = pairsIn(news);
  const managed = bindingsIn(olds, "bindings");
  const declared = Map.groupBy(pairs, ({ identity }) => identity);
  const existing = Map.groupBy(managed, ({ identity }) => identity.uid);
  const isDeclared = (one: Binding) => (declared.get(one.identity.uid) ?? []).some((pair) => grants(one, pair));
  const unmanaged = bindingsIn(olds, "unmanaged").filter((one) => !isDeclared(one));
  const isExclusive = removesRecorded(olds, news);
  return {
    added: pairs.filter((pair) => !existing.get(pair.identity)?.some((one) => grants(one, pair))),
    dropped: managed.filter((one) => !isDeclared(one)),
    undeclared: isExclusive ? unmanaged.filter(({ kept }) => kept === undefined) : [],
    kept: isExclusive ? unmanaged.filter(({ kept }) => kept !== undefined) : [],
  };
};

/** Throws where an exclusive set would remove more than it may. */
export const requireFewRemovals = (name: string, { dropped, undeclared }: Plan, news: Json): void => {
  const { exclusive, maxRemovals } = settingsOf(news);
  const removed = [...dropped, ...undeclared];
  if (!exclusive || removed.length <= maxRemovals) return;
  const head =
    `RoleBindingSet ${name}: would remove ${removed.length} role bindings, more than maxRemovals (${maxRemovals}); ` +
    "nothing is changed:";
  const shown = removed.slice(0, SHOWN).map(bindingText);
  const more = removed.length > SHOWN ? [`and ${removed.length - SHOWN} more`] : [];
  throw new Error(
    `${[head, ...shown, ...more].join("\n  - ")}\nIf this is intended, set maxRemovals: ${removed.length} for one run.`,
  );
};

const SHOWN = 50;
