// The paths to more access of a graph.
import { compare } from "../canonical.ts";
import { type AccessGraph, placesIn } from "../graph/graph.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import { reachCautiously, type Search } from "./cautious.ts";
import { heldAtFirst, pathsInOrder, pathsOf } from "./make.ts";
import type { Path, PathOptions, PathQuery, Paths } from "./path.ts";
import { type Start, startOfIdentity, startsOfWorkload } from "./start.ts";
import { reachStrictly } from "./strict.ts";
import { type World, worldOf } from "./world.ts";

const STEPS = 20_000_000;

export const findPaths = (graph: AccessGraph, query: PathQuery, options: PathOptions): Paths => {
  const { notVisible, audience, nowMs, steps = STEPS } = options;
  const world = worldOf(graph, notVisible);
  const budget = newReviewBudget();
  const search: Search = { audience, nowMs, invites: true, budget: { steps } };
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
  return { paths: pathsInOrder(paths), notSearched };
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
  const covered = heldAtFirst(world, start);
  const strict = pathsOf(world, start, reachStrictly(world, start, search), "strict", covered, query);
  return [...strict, ...pathsOf(world, start, reachCautiously(world, start, search), "cautious", covered, query)];
};

// What a request of a path is about, for people.

const CREATED = /\$\{(\d+)\.uid\}/;

/** The uid that the path of a request ends with, or `${N.uid}`; empty: none, or that of a new record. */
export const recordIn = (path: string): string =>
  CREATED.exec(path)?.[0] ?? path.match(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*(?!.*[0-9a-f]{40})/)?.[0] ?? "";

/** That record, in words. */
export const targetsIn = (graph: AccessGraph): ((path: string, method: string) => string) => {
  const placeOf = placesIn(graph);
  return (path, method) => {
    const id = recordIn(path);
    const own = CREATED.exec(id)?.[1];
    if (own !== undefined) return `what step ${own} created`;
    const [identity, role, provider] = [graph.identities.get(id), graph.roles.get(id), graph.providers.get(id)];
    if (identity) return `identity ${identity.name}`;
    if (role) return `role ${role.name}`;
    if (provider) return `identity provider ${provider.name}`;
    const binding = graph.bindings.get(id);
    if (binding) return `role binding of ${graph.identities.get(binding.identity)?.name ?? binding.identity}`;
    if (graph.groups.has(id)) return method === "POST" ? `new role binding at ${placeOf(id)}` : placeOf(id);
    return /<uid of ([^>]*)>/.exec(path)?.[1] ?? "a sign-in";
  };
};
