// The differences between the built-in roles of a service and the recorded ones, and whom they reach. People gain or lose access by them
// without any change of ours.
import { z } from "zod";
import { getOrInsert } from "../../schema/index.ts";
import { worstFirst } from "../graph/danger.ts";
import { accessChange, type IdentityChange } from "../graph/effective-access.ts";
import { type AccessGraph, newGraph, pathOf, type RoleNode } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { everyoneIn } from "../graph/people.ts";
import { string, strings, text, textOrNull, texts } from "../shape.ts";
import type { LockedRoles } from "./lock.ts";

const Reach = z.object({
  identity: textOrNull("uid; null: people without an identity"),
  name: string,
  group: text("uid of the group where the role is granted"),
  groupName: text("path; `/`: the organization"),
  binding: text("uid of the record that grants the role"),
  gains: texts("capabilities that it did not have there"),
  losses: texts("capabilities that it has there no more"),
});
export type Reach = z.infer<typeof Reach>;

export const RoleChange = z.object({
  name: string,
  uid: textOrNull("null: the service has no such role any more"),
  change: z.enum(["added", "changed", "removed"]),
  service: text("address of the API"),
  added: strings,
  removed: strings,
  against: z.enum(["lock", "table"]).describe("roles.lock.yaml, or the table of this version"),
  date: text("the day of the bundles that it differs from: 2026-11-28"),
  reaches: z.array(Reach).describe("who gained or lost access by it"),
  complete: z.boolean().describe("false: the caller may not list everything, so others may have gained or lost access"),
});
export type RoleChange = z.infer<typeof RoleChange>;

/** Whether the service differs from roles that someone recorded. The table only shows the roles at the time of this version. */
export const isChange = ({ against }: RoleChange): boolean => against === "lock";

/** The roles of a graph that belong to no group and were listed, by name. */
export const builtInRolesIn = ({ roles }: AccessGraph): Map<string, RoleNode[]> =>
  Map.groupBy(
    [...roles.values()].filter(({ group, isUnlisted }) => group === null && isUnlisted !== true),
    ({ name }) => name,
  );

/** The capabilities of each built-in role of a service. If two share a name, the name of each includes its uid: `viewer (6392…)`. */
export const bundlesIn = (graph: AccessGraph): Record<string, readonly string[]> =>
  Object.fromEntries([...namedRolesIn(graph)].map(([name, { capabilities }]) => [name, capabilities]));

const namedRolesIn = (graph: AccessGraph) =>
  new Map(
    [...builtInRolesIn(graph)].flatMap(([name, nodes]) =>
      nodes.map((node) => [nodes.length > 1 ? `${name} (${node.id})` : name, node] as const),
    ),
  );

/** By name. `nowMs`: invites that have ended by then reach no one. */
export const roleChanges = (service: string, live: Live, recorded: LockedRoles, nowMs: number): RoleChange[] => {
  // A service that does not list its roles has not removed them.
  if (live.notVisible.some(({ kind, group }) => kind === "role" && group === "")) return [];
  const nodes = namedRolesIn(live.graph);
  const bundles = bundlesIn(live.graph);
  const against = recorded.service === undefined ? "table" : "lock";
  const names = [...new Set([...Object.keys(bundles), ...Object.keys(recorded.roles)])].sort();
  const changed = names.flatMap((name) => {
    const [was, is] = [bundleOf(recorded.roles, name), bundleOf(bundles, name)];
    const [added, removed] = [without(is, was), without(was, is)];
    const change = !Object.hasOwn(recorded.roles, name) ? "added" : nodes.has(name) ? "changed" : "removed";
    return added.length + removed.length === 0 ? [] : [{ name, change, added, removed } as const];
  });
  if (changed.length === 0) return [];
  const after = everyoneIn(live.graph, nowMs);
  const rows = byPlace(accessChange(withBundles(after, recorded), after));
  return changed.map((one) => {
    const own = nodes.get(one.name);
    const reaches = own ? reachesOf(own, one, after, rows) : [];
    const complete = live.notVisible.length === 0;
    return { ...one, complete, uid: own?.uid ?? null, service, against, date: recorded.date, reaches };
  });
};

interface Held {
  gains: Set<string>;
  losses: Set<string>;
}

/** By identity and group: its gains and losses there. */
const byPlace = (changes: readonly IdentityChange[]): Map<string, Held> => {
  const places = new Map<string, Held>();
  for (const { identity, ...change } of changes)
    for (const sign of ["gains", "losses"] as const)
      for (const { group, capability } of change[sign]) {
        const held = getOrInsert(places, `${identity} ${group}`, () => ({ gains: new Set(), losses: new Set() }));
        held[sign].add(capability);
      }
  return places;
};

const bundleOf = (bundles: LockedRoles["roles"], name: string) =>
  Object.hasOwn(bundles, name) ? (bundles[name] as readonly string[]) : [];

const without = (some: readonly string[], others: readonly string[]) => [...new Set(some).difference(new Set(others))];

/** The graph with the recorded roles. */
const withBundles = (graph: AccessGraph, { roles }: LockedRoles): AccessGraph => {
  const before = newGraph(graph);
  for (const [name, node] of namedRolesIn(graph))
    before.roles.set(node.id, { ...node, capabilities: bundleOf(roles, name) });
  return before;
};

/** The bindings of a role through which someone gained or lost access. */
const reachesOf = (
  { id: roleId }: RoleNode,
  { added, removed }: Pick<RoleChange, "added" | "removed">,
  graph: AccessGraph,
  rows: ReadonlyMap<string, Held>,
): Reach[] => {
  const reaches = [...graph.bindings.values()].flatMap(({ id, identity, group, role }): Reach[] => {
    const change = role === roleId ? rows.get(`${identity} ${group}`) : undefined;
    if (change === undefined) return [];
    const gains = added.filter((one) => change.gains.has(one));
    const losses = removed.filter((one) => change.losses.has(one));
    if (gains.length + losses.length === 0) return [];
    const { name = identity, uid = null } = graph.identities.get(identity) ?? {};
    return [{ identity: uid, name, group, groupName: pathOf(graph, group), binding: id, gains, losses }];
  });
  return worstFirst(reaches, ({ gains: capabilities, losses, groupName: place, name, binding }) => ({
    capabilities,
    losses,
    place,
    texts: [name, binding],
  }));
};
