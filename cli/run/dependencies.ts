// What depends on what in a stack, as its preview shows it.
import type { Preview, Step } from "../../pulumi/preview.ts";

type Edges = ReadonlyMap<string, readonly string[]>;

/** The members of `wanted` that a resource leads to, in their order, without what lies behind them. */
export const reachedFrom = (start: string, edges: Edges, targets: Iterable<string>): string[] => {
  const wanted = new Set(targets);
  const seen = new Set([start]);
  const found = new Set<string>();
  const open = [start];
  for (let urn = open.pop(); urn !== undefined; urn = open.pop())
    for (const next of edges.get(urn) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (wanted.has(next)) found.add(next);
      else open.push(next);
    }
  return [...wanted].filter((urn) => found.has(urn));
};

/** What each resource depends on, by its inputs or its parent. */
export const dependenciesIn = ({ steps }: Preview): Edges =>
  new Map([...Map.groupBy(steps, ({ urn }) => urn)].map(([urn, own]) => [urn, dependenciesOf(own)]));

export const inverted = (edges: Edges): Edges => {
  const all = [...edges].flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
  return new Map([...Map.groupBy(all, ({ to }) => to)].map(([to, own]) => [to, own.map(({ from }) => from)]));
};

const dependenciesOf = (steps: readonly Step[]) =>
  steps.flatMap(({ newState, oldState }) =>
    [newState, oldState].flatMap((state) => [
      ...(state?.dependencies ?? []),
      ...Object.values(state?.propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
      ...(state?.parent ? [state.parent] : []),
    ]),
  );

/** These resources, and those that need a value of them. A deletion needs none. */
export const withDependents = (preview: Preview, urns: readonly string[]): string[] => {
  const needs = dependenciesIn(preview);
  const declared = preview.steps.filter(({ op }) => !op.includes("delete") && op !== "refresh").map(({ urn }) => urn);
  const waiting = declared.filter((urn) => reachedFrom(urn, needs, urns).length > 0);
  return [...new Set([...urns, ...waiting])];
};
