// Makes paths of what a search has reached: a path for each way that leads to something that no shorter one leads to.
import { getOrInsert } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { worstFirst } from "../graph/danger.ts";
import type { NodeId } from "../graph/graph.ts";
import { isPerson } from "./cautious.ts";
import type { Assumes, Gain, Path, PathQuery } from "./path.ts";
import { type Held, type Request, stepsOf } from "./reached.ts";
import type { Start } from "./start.ts";
import type { World } from "./world.ts";

/** `covered` gets what the paths lead to. */
export const pathsOf = (
  world: World,
  start: Start,
  reached: readonly Held[],
  assumes: Assumes,
  covered: Covered,
  { to, at }: PathQuery,
): Path[] => {
  const lineage = at === undefined ? undefined : world.lineage(at);
  const lasts = new Map<Request | undefined, number>();
  const numberOf = (last: Request | undefined): number => {
    const number = lasts.get(last) ?? lasts.size;
    lasts.set(last, number);
    return number;
  };
  const ways = Map.groupBy(
    reached.filter(({ requests }) => requests.length > 0),
    ({ requests, who }) => `${who} ${requests.length} ${numberOf(requests.at(-1))}`,
  );
  const paths: Path[] = [];
  for (const held of ways.values()) {
    const [{ requests, assumptions, who }] = held as [Held, ...Held[]];
    const gains = held
      .filter(({ group }) => lineage === undefined || lineage.includes(group))
      .filter(({ capabilities }) => to !== "owner" || isSuperset(capabilities, world.owner.capabilities))
      .flatMap(({ group, capabilities }) =>
        [...capabilities]
          .filter(
            (capability) =>
              (to === undefined || to === "owner" || capability === to) && !covered.has(group, capability),
          )
          .map((capability): Gain => ({ capability, group })),
      );
    if (gains.length === 0) continue;
    for (const { group, capability } of gains) covered.add(group, [capability]);
    const all = [...new Set([...assumptions, ...held.flatMap((one) => one.assumptions)])].sort();
    paths.push({
      from: start.from,
      gains: topmost(world, gains),
      assumes: all.length > 0 ? "cautious" : assumes,
      steps: stepsOf(requests, (node) => uidIn(world, node)),
      assumptions: all,
      end: who,
      ...(start.starter.claims && { workload: start.starter.claims }),
    });
  }
  return paths;
};

const isSuperset = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...other].every((item) => one.has(item));

/** Without what the same path leads to at a group above. */
const topmost = (world: World, gains: readonly Gain[]): Gain[] => {
  const held = new Set(gains.map(({ capability, group }) => `${capability} ${group}`));
  const above = ({ capability, group }: Gain): boolean =>
    world
      .lineage(group)
      .slice(1)
      .some((one) => held.has(`${capability} ${one}`));
  const shown = new Map(gains.filter((one) => !above(one)).map((one) => [`${one.group} ${one.capability}`, one]));
  return [...shown.values()].sort((a, b) => compare(a.group, b.group) || compare(a.capability, b.capability));
};

/** What is held without a path, or led to by one that is listed. */
export class Covered {
  readonly #world: World;
  readonly #held = new Map<NodeId, Set<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  add(group: NodeId, capabilities: Iterable<string>): void {
    const here = getOrInsert(this.#held, group, () => new Set());
    for (const one of capabilities) here.add(one);
  }

  has(group: NodeId, capability: string): boolean {
    return this.#world.lineage(group).some((one) => this.#held.get(one)?.has(capability));
  }
}

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
  const covered = new Covered(world);
  const first = "identity" in from ? [from.identity] : [...controlled.keys()];
  for (const who of first) for (const { group, role } of world.bindingsOf(who)) covered.add(group, world.granted(role));
  return covered;
};
