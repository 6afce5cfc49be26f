// The paths to more access of a graph: by which requests somebody could come to hold what they do not hold today.
import type { Json } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import { isPerson, reachCautiously, type Search } from "./cautious.ts";
import type { Held } from "./reached.ts";
import { type Step, stepsOf } from "./request.ts";
import { type From, type Start, startOfIdentity, startsOfWorkload, type WorkloadClaims } from "./start.ts";
import { reachStrictly } from "./strict.ts";
import { type World, worldOf } from "./world.ts";

/** A capability that its first caller does not hold, at the topmost group where the path leads to it. */
export interface Gain {
  capability: string;
  group: NodeId;
}

/** `strict`: by the rules of the reference server. `cautious`: only if the service or people allow what it assumes. */
export type Assumes = "strict" | "cautious";

export interface Path {
  from: From;
  gains: Gain[];
  assumes: Assumes;
  steps: Step[];
  /** what a cautious path takes for granted, a sentence each */
  assumptions: readonly string[];
  /** who holds the gains at its end */
  end: NodeId;
  /** of the workload that starts it; absent: not known */
  workload?: WorkloadClaims;
}

/** The claims of a token of the workload that starts a path; undefined: not known. */
export const workloadOf = ({ workload }: Path): Json | undefined =>
  workload && { ...workload.claims, iss: workload.issuer, sub: workload.subject };

export interface PathQuery {
  /** default: every identity that has a role */
  from?: { identity: NodeId } | { relationship: Json };
  /** a capability by its friendly name, or all that an owner has */
  to?: string;
  at?: NodeId;
  /** also paths that only exchange the workload's token for another identity */
  others?: boolean;
}

export interface PathOptions {
  notVisible: readonly NotVisible[];
  /** address of the API, which tokens are for */
  audience: string;
  nowMs: number;
  /** steps of the search; default: a few seconds */
  steps?: number;
}

export interface Paths {
  paths: Path[];
  /** where the search ended before it was complete, in words */
  notSearched: string[];
}

const STEPS = 20_000_000;

export const findPaths = (graph: AccessGraph, query: PathQuery, options: PathOptions): Paths => {
  const { notVisible, audience, nowMs, steps = STEPS } = options;
  const world = worldOf(graph, notVisible);
  const budget = newReviewBudget();
  const search: Search = { audience, nowMs, budget: { steps } };
  const starts = startsOf(world, query, { audience, others: query.others ?? true, budget });
  const paths: Path[] = [];
  const notSearched: string[] = [];
  for (const [i, start] of starts.entries()) {
    paths.push(...pathsFrom(world, start, query, search));
    if (search.budget.steps >= 0) continue;
    const left = starts.length - i - 1;
    notSearched.push(
      `the search for paths ended after ${steps} steps: those from ${nameOfStart(world, start)} are not complete${left > 0 ? `, and ${left} more were not searched` : ""}`,
    );
    break;
  }
  if (budget.steps <= 0)
    notSearched.push("patterns of identities took too many steps, so that some workloads were not compared");
  return { paths: paths.sort(byLength), notSearched };
};

const startsOf = (
  world: World,
  { from }: PathQuery,
  options: Parameters<typeof startOfIdentity>[2],
): readonly Start[] => {
  const { identities } = world.graph;
  if (from !== undefined && "relationship" in from) return startsOfWorkload(world, from.relationship, options);
  const asked = from === undefined ? [...identities.values()] : [identities.get(from.identity)];
  return asked
    .filter((one) => one !== undefined && (from !== undefined || world.bindingsOf(one.id).length > 0))
    .sort((a, b) => compare(a?.id ?? "", b?.id ?? ""))
    .map((one) => startOfIdentity(world, one as NonNullable<typeof one>, options));
};

const nameOfStart = (world: World, { from }: Start): string =>
  "identity" in from ? (world.graph.identities.get(from.identity)?.name ?? from.identity) : from.workload.subject;

const pathsFrom = (world: World, start: Start, query: PathQuery, search: Search): Path[] => {
  const covered = new Covered(world);
  // What the first caller holds is no gain; of a workload, what it can assume today.
  const first = "identity" in start.from ? [start.from.identity] : [...start.controlled.keys()];
  for (const who of first) for (const { group, role } of world.bindingsOf(who)) covered.add(group, world.granted(role));
  const strict = pathsOf(world, start, reachStrictly(world, start, search), "strict", covered, query);
  return [...strict, ...pathsOf(world, start, reachCautiously(world, start, search), "cautious", covered, query)];
};

/** A path for each way that leads to something that no shorter one leads to. */
const pathsOf = (
  world: World,
  start: Start,
  reached: readonly Held[],
  assumes: Assumes,
  covered: Covered,
  { to, at }: PathQuery,
): Path[] => {
  const lineage = at === undefined ? undefined : world.lineage(at);
  const ways = Map.groupBy(
    reached.filter(({ requests }) => requests.length > 0),
    ({ requests, who }) => `${who} ${requests.length} ${idOf(requests.at(-1) as object)}`,
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

const ids = new WeakMap<object, number>();
let last = 0;
const idOf = (object: object): number => {
  const known = ids.get(object);
  if (known !== undefined) return known;
  last += 1;
  ids.set(object, last);
  return last;
};

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
class Covered {
  readonly #world: World;
  readonly #held = new Map<NodeId, Set<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  add(group: NodeId, capabilities: Iterable<string>): void {
    const here = this.#held.get(group) ?? new Set();
    for (const one of capabilities) here.add(one);
    this.#held.set(group, here);
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

/** The shortest first; of two, the one that is certain, then in a stable order. */
const byLength = (a: Path, b: Path): number =>
  a.steps.length - b.steps.length ||
  compare(b.assumes, a.assumes) ||
  compare(JSON.stringify([a.from, a.steps]), JSON.stringify([b.from, b.steps]));
