// The paths to more access of a graph.

import { getOrInsert, once } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { worstFirst } from "../graph/danger.ts";
import { type AccessGraph, type NodeId, nameOf, placesIn } from "../graph/graph.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import { reachCautiously, type Search } from "./cautious.ts";
import type { Gain, Path, PathOptions, PathQuery, Paths } from "./path.ts";
import { type Covered, coveredIn, type Held, isPerson, type Request, stepsOf } from "./reached.ts";
import { type Start, startOfIdentity, startsOfWorkload } from "./start.ts";
import { reachStrictly } from "./strict.ts";
import { type World, worldOf } from "./world.ts";

const STEPS = 20_000_000;

export const findPaths = (graph: AccessGraph, query: PathQuery, options: PathOptions): Paths => {
  const { notVisible, audience, nowMs, steps = STEPS } = options;
  const world = worldOf(graph, notVisible);
  const budget = newReviewBudget();
  const search: Search = { audience, nowMs, invites: true, budget: { steps } };
  const starts = startsOf(world, query, { audience, others: true, budget });
  const paths: Path[] = [];
  const notSearched: string[] = [];
  for (const [i, start] of starts.entries()) {
    const reached = reach(world, start, search);
    paths.push(...pathsOnlyIn(world, { start, reached }, undefined, query));
    if (search.budget.steps >= 0) continue;
    const left = starts.length - i - 1;
    notSearched.push(
      `the search for paths ended after ${steps} steps: those from ${nameOfStart(world, start)} are not complete${left > 0 ? `, and ${left} more were not searched` : ""}`,
    );
    break;
  }
  if (budget.steps <= 0)
    notSearched.push("patterns of identities took too many steps, so that some workloads were not compared");
  return { paths: pathsInOrder(paths), notSearched };
};

const startsOf = (
  world: World,
  { from }: PathQuery,
  options: Parameters<typeof startOfIdentity>[2],
): readonly Start[] => {
  const { identities } = world.graph;
  if (from !== undefined && "relationship" in from) return startsOfWorkload(world, from.relationship, options);
  const asked =
    from === undefined
      ? [...identities.values()].filter(({ id }) => world.bindingsOf(id).length > 0)
      : [identities.get(from.identity)].filter((one) => one !== undefined);
  return asked.map((one) => startOfIdentity(world, one, options));
};

const nameOfStart = (world: World, { from }: Start) =>
  "identity" in from ? world.nameOf(from.identity) : from.workload.subject;

/** The access that the identities of a start can reach, by either reading. */
export const reach = (world: World, start: Start, search: Search): Held[] => [
  ...reachStrictly(world, start, search),
  ...reachCautiously(world, start, search),
];

// The record of a request of a path, for people.

const CREATED = /\$\{(\d+)\.uid\}/;

/** The uid at the end of the path of a request, or `${N.uid}`; empty: none, or the uid of a new record. */
export const recordIn = (path: string): string =>
  CREATED.exec(path)?.[0] ?? path.match(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*(?!.*[0-9a-f]{40})/)?.[0] ?? "";

/** The record of a request, in words. */
export const targetsIn = (graph: AccessGraph): ((path: string, method: string) => string) => {
  const placeName = placesIn(graph);
  return (path, method) => {
    const id = recordIn(path);
    const own = CREATED.exec(id)?.[1];
    if (own !== undefined) return `what step ${own} created`;
    const [identity, role, provider] = [graph.identities.get(id), graph.roles.get(id), graph.providers.get(id)];
    if (identity) return `identity ${identity.name}`;
    if (role) return `role ${role.name}`;
    if (provider) return `identity provider ${provider.name}`;
    const binding = graph.bindings.get(id);
    if (binding) return `role binding of ${nameOf(graph.identities, binding.identity)}`;
    if (graph.groups.has(id)) return method === "POST" ? `new role binding at ${placeName(id)}` : placeName(id);
    return /<uid of ([^>]*)>/.exec(path)?.[1] ?? "a sign-in";
  };
};

// The paths that a change opens and closes. A path through an open invite is left to the review of its people.

/** Maximum steps of the searches of a review: a few seconds. */
const STEPS_OF_CHANGE = 3_000_000;

export const pathChange = (before: AccessGraph, after: AccessGraph, options: PathOptions) => {
  const { notVisible, steps = STEPS_OF_CHANGE } = options;
  const search: Search = { ...options, invites: false, budget: { steps } };
  const patterns = newReviewBudget();
  const sideOf = (graph: AccessGraph) => {
    const world = worldOf(graph, notVisible);
    return {
      world,
      reach: (identity: NodeId): Reach | undefined => {
        const node = graph.identities.get(identity);
        if (node === undefined || !canStart(world, identity)) return undefined;
        const start = startOfIdentity(world, node, { audience: options.audience, others: false, budget: patterns });
        return { start, reached: reach(world, start, search) };
      },
    };
  };
  const [old, now] = [sideOf(before), sideOf(after)];
  const starts = [...new Set([...before.identities.keys(), ...after.identities.keys()])].sort(compare);
  const [opens, closes]: [Path[], Path[]] = [[], []];
  /** why the search ended early, in words */
  const notSearched: string[] = [];
  for (const [i, identity] of starts.entries()) {
    const [was, is] = [old.reach(identity), now.reach(identity)];
    if (search.budget.steps < 0) {
      const name = (after.identities.get(identity) ?? before.identities.get(identity))?.name;
      notSearched.push(
        `the search for paths that open or close ended after ${steps} steps, at identity ${name}: ${starts.length - i} of ${starts.length} identities are not searched`,
      );
      break;
    }
    opens.push(...pathsOnlyIn(now.world, is, was));
    closes.push(...pathsOnlyIn(old.world, was, is));
  }
  return { opens: pathsInOrder(opens), closes: pathsInOrder(closes), notSearched };
};

interface Reach {
  start: Start;
  reached: readonly Held[];
}

/** Without one of these, an identity cannot send any request that leads on. */
const LEADING = [
  ...["identity.update", "role_bindings.create", "role_bindings.update", "roles.update"],
  ...["identity_providers.update", "identity_providers.scim.manage"],
];

const canStart = (world: World, identity: NodeId) =>
  world
    .bindingsOf(identity)
    .some(({ role }) => !world.isRead(role) || LEADING.some((one) => world.granted(role).has(one)));

/** Paths to access that the other side neither holds nor reaches. A path that becomes strict counts as another one. */
const pathsOnlyIn = (world: World, own: Reach | undefined, other: Reach | undefined, query: PathQuery = {}): Path[] => {
  const keys = new Set(other?.reached.map(keyOf));
  // Most identities reach equal access before and after.
  if (own === undefined || own.reached.every((one) => keys.has(keyOf(one)))) return [];
  const covered = heldAtFirst(world, own.start);
  return (["strict", "cautious"] as const).flatMap((assumes) => {
    const isSo = (one: Held) => one.assumes === assumes;
    for (const held of other?.reached.filter(isSo) ?? []) covered.add(held);
    return pathsOf(world, own.start, own.reached.filter(isSo), covered, query);
  });
};

const keyOf = ({ assumes, group, role, capabilities }: Held) =>
  `${assumes} ${group} ${role} ${capabilitiesText(capabilities)}`;

/** Many bindings share one set. */
const capabilitiesText = once((capabilities: ReadonlySet<string>) => [...capabilities].join());

// Turns the results of a search into paths: one for each way that leads to access that no shorter way reaches.

/** Adds to `covered` the access that the paths reach. */
const pathsOf = (
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
  const depthOf = ({ group }: Held) => world.lineage(group).length;
  const paths: Path[] = [];
  for (const held of ways.values()) {
    const [{ requests, who, assumes }] = held as [Held, ...Held[]];
    const gains: Gain[] = [];
    // The broadest first: the path gains nothing more below it.
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

/** For a record that does not exist yet, its name. */
const uidIn = ({ graph }: World, node: NodeId) => {
  if (isPerson(node)) return "<uid of the person>";
  const found =
    graph.identities.get(node) ?? graph.groups.get(node) ?? graph.roles.get(node) ?? graph.providers.get(node);
  const own = found ?? graph.bindings.get(node);
  if (own === undefined) return node.startsWith("role ") ? `<uid of ${node}>` : node;
  return own.uid ?? `<uid of ${found?.name ?? "a new role binding"}>`;
};

/** Paths to the worst access first; then the shorter ones, then the certain ones. */
const pathsInOrder = (paths: readonly Path[]) =>
  worstFirst(paths, ({ gains, steps, assumes, from }) => ({
    capabilities: gains.map(({ capability }) => capability),
    texts: [String(steps.length).padStart(4, "0"), assumes === "strict" ? "" : assumes, JSON.stringify([from, steps])],
  }));

/** Access that the first caller holds is not a gain; for a workload, access of the identities that it can assume today. */
const heldAtFirst = (world: World, { from, controlled }: Start): Covered => {
  const covered = coveredIn(world);
  const first =
    "identity" in from
      ? [from.identity]
      : [...controlled].flatMap(([id, { assumptions }]) => (assumptions.length === 0 ? id : []));
  for (const { group, role } of first.flatMap(world.bindingsOf))
    covered.add({ group, capabilities: world.granted(role) });
  return covered;
};
