// Makes paths of what a search has reached: a path for each way that leads to something that no shorter one leads to.
import { getOrInsert } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { worstFirst } from "../graph/danger.ts";
import type { NodeId } from "../graph/graph.ts";
import type { Gain, Path, PathQuery } from "./path.ts";
import { type Covered, coveredIn, type Held, isPerson, type Request, stepsOf } from "./reached.ts";
import type { Start } from "./start.ts";
import type { World } from "./world.ts";

/** `covered` gets what the paths lead to. */
export const pathsOf = (
  world: World,
  start: Start,
  reached: readonly Held[],
  covered: Covered,
  { to, at }: PathQuery,
): Path[] => {
  const lineage = at === undefined ? undefined : world.lineage(at);
  const lasts = new Map<Request | undefined, number>();
  const ways = Map.groupBy(
    reached.filter(({ requests }) => requests.length > 0),
    ({ requests, who }) => `${who} ${requests.length} ${getOrInsert(lasts, requests.at(-1), () => lasts.size)}`,
  );
  const depthOf = ({ group }: Held): number => world.lineage(group).length;
  const paths: Path[] = [];
  for (const held of ways.values()) {
    const [{ requests, who, assumes }] = held as [Held, ...Held[]];
    const gains: Gain[] = [];
    // The broadest first: the same path leads to no more below.
    for (const { group, capabilities } of held.toSorted((a, b) => depthOf(a) - depthOf(b))) {
      if (lineage !== undefined && !lineage.includes(group)) continue;
      if (to === "owner" && !world.owner.capabilities.isSubsetOf(capabilities)) continue;
      const gained = [...capabilities].filter(
        (one) => (to === undefined || to === "owner" || one === to) && !covered.hasAll(group, [one]),
      );
      covered.add({ group, capabilities: new Set(gained) });
      gains.push(...gained.map((capability) => ({ capability, group })));
    }
    if (gains.length === 0) continue;
    paths.push({
      from: start.from,
      gains: gains.sort((a, b) => compare(a.group, b.group) || compare(a.capability, b.capability)),
      assumes,
      steps: stepsOf(requests, (node) => uidIn(world, node)),
      assumptions: [...new Set(held.flatMap(({ assumptions }) => assumptions))].sort(),
      end: who,
      workload: start.starter.claims,
    });
  }
  return paths;
};

/** Of a record that does not exist yet, its name. */
const uidIn = ({ graph }: World, node: NodeId): string => {
  if (isPerson(node)) return "<uid of the person>";
  const found =
    graph.identities.get(node) ?? graph.groups.get(node) ?? graph.roles.get(node) ?? graph.providers.get(node);
  const own = found ?? graph.bindings.get(node);
  if (own === undefined) return node.startsWith("role ") ? `<uid of ${node}>` : node;
  return own.uid ?? `<uid of ${found?.name ?? "a new role binding"}>`;
};

/** Those that lead to the worst first; of two, the shorter one, then the one that is certain. */
export const pathsInOrder = (paths: readonly Path[]): Path[] =>
  worstFirst(paths, ({ gains, steps, assumes, from }) => ({
    capabilities: gains.map(({ capability }) => capability),
    texts: [String(steps.length).padStart(4, "0"), assumes === "strict" ? "" : assumes, JSON.stringify([from, steps])],
  }));

/** What the first caller holds is no gain; of a workload, what it can assume today. */
export const heldAtFirst = (world: World, { from, controlled }: Start): Covered => {
  const covered = coveredIn(world);
  const first =
    "identity" in from
      ? [from.identity]
      : [...controlled].flatMap(([id, { assumptions }]) => (assumptions.length === 0 ? id : []));
  for (const { group, role } of first.flatMap(world.bindingsOf))
    covered.add({ group, capabilities: world.granted(role) });
  return covered;
};
