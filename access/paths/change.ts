// Which paths a change opens and closes. A path through an open invite is left to the review of its people.
import { compare } from "../canonical.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import { reachCautiously, type Search } from "./cautious.ts";
import { type Covered, heldAtFirst, pathsInOrder, pathsOf } from "./make.ts";
import type { Path, PathOptions } from "./path.ts";
import type { Held } from "./reached.ts";
import { type Start, startOfIdentity } from "./start.ts";
import { reachStrictly } from "./strict.ts";
import { type World, worldOf } from "./world.ts";

export interface PathChange {
  opens: Path[];
  closes: Path[];
  /** where the search ended before it was complete, in words */
  notSearched: string[];
}

/** Steps of the searches of a review: a few seconds. */
const STEPS = 3_000_000;

export const pathChange = (before: AccessGraph, after: AccessGraph, options: PathOptions): PathChange => {
  const { notVisible, steps = STEPS } = options;
  const search: Search = { ...options, invites: false, budget: { steps } };
  const patterns = newReviewBudget();
  const [old, now] = [before, after].map((graph): Side => {
    const world = worldOf(graph, notVisible);
    return {
      world,
      reach: (identity) => {
        const node = graph.identities.get(identity);
        if (node === undefined || !canStart(world, identity)) return undefined;
        const start = startOfIdentity(world, node, { audience: options.audience, others: false, budget: patterns });
        const [strict, cautious] = [reachStrictly(world, start, search), reachCautiously(world, start, search)];
        return { start, strict, cautious };
      },
    };
  }) as [Side, Side];
  const starts = [...new Set([...before.identities.keys(), ...after.identities.keys()])].sort(compare);
  const [opens, closes]: [Path[], Path[]] = [[], []];
  for (const [i, identity] of starts.entries()) {
    const [was, is] = [old.reach(identity), now.reach(identity)];
    if (search.budget.steps < 0) {
      const name = (after.identities.get(identity) ?? before.identities.get(identity))?.name;
      const text = `the search for paths that open or close ended after ${steps} steps, at identity ${name}: ${starts.length - i} of ${starts.length} identities are not searched`;
      return { opens: pathsInOrder(opens), closes: pathsInOrder(closes), notSearched: [text] };
    }
    opens.push(...pathsOnlyIn(now.world, is, was));
    closes.push(...pathsOnlyIn(old.world, was, is));
  }
  return { opens: pathsInOrder(opens), closes: pathsInOrder(closes), notSearched: [] };
};

interface Reach {
  start: Start;
  strict: readonly Held[];
  cautious: readonly Held[];
}

interface Side {
  world: World;
  reach(identity: NodeId): Reach | undefined;
}

/** Without one of these an identity can do nothing that leads on. */
const LEADING = [
  ...["identity.update", "role_bindings.create", "role_bindings.update", "roles.update"],
  ...["identity_providers.update", "identity_providers.scim.manage"],
];

const canStart = (world: World, identity: NodeId): boolean =>
  world
    .bindingsOf(identity)
    .some(({ role }) => !world.isRead(role) || LEADING.some((one) => world.granted(role).has(one)));

/** Paths to what the other side neither holds nor leads to. A path that becomes strict is another one. */
const pathsOnlyIn = (world: World, own: Reach | undefined, other: Reach | undefined): Path[] => {
  if (own === undefined) return [];
  const keys = new Set([...(other?.strict ?? []).map(keyOf("strict")), ...(other?.cautious ?? []).map(keyOf(""))]);
  const isKnown = [...own.strict.map(keyOf("strict")), ...own.cautious.map(keyOf(""))].every((key) => keys.has(key));
  // Most identities reach the same before and after.
  if (isKnown) return [];
  const covered = heldAtFirst(world, own.start);
  addAll(covered, other?.strict ?? []);
  const strict = pathsOf(world, own.start, own.strict, "strict", covered, {});
  addAll(covered, other?.cautious ?? []);
  return [...strict, ...pathsOf(world, own.start, own.cautious, "cautious", covered, {})];
};

const keyOf =
  (reading: string) =>
  ({ group, role, capabilities }: Held): string =>
    `${reading} ${group} ${role} ${capabilitiesText(capabilities)}`;

/** One set is of many bindings. */
const texts = new WeakMap<ReadonlySet<string>, string>();
const capabilitiesText = (capabilities: ReadonlySet<string>): string => {
  const text = texts.get(capabilities) ?? [...capabilities].join();
  texts.set(capabilities, text);
  return text;
};

const addAll = (covered: Covered, reached: readonly Held[]): void => {
  for (const { group, capabilities } of reached) covered.add(group, capabilities);
};
