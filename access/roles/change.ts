// How the built-in roles of a service differ from what is written down, and whom that reaches: who gained or lost access by it, without
// any change of ours.
import { z } from "zod";
import { compare } from "../graph/compare.ts";
import { type AccessGraph, newGraph, pathOf, type RoleNode } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { accessChange, type IdentityChange } from "../review/change.ts";
import { everyoneIn } from "../test/everyone.ts";
import type { LockedRoles } from "./lock.ts";

const texts = z.array(z.string());

const Reach = z.object({
  identity: z.string().nullable().describe("uid; null: people without an identity"),
  name: z.string(),
  group: z.string().describe("uid of the group where the role is granted"),
  groupName: z.string().describe("path; `/`: the organization"),
  binding: z.string().describe("uid of the record that grants the role"),
  gains: texts.describe("capabilities that it did not have there"),
  losses: texts.describe("capabilities that it has there no more"),
});
export type Reach = z.infer<typeof Reach>;

export const RoleChange = z.object({
  name: z.string(),
  uid: z.string().nullable().describe("null: the service has no such role any more"),
  change: z.enum(["added", "changed", "removed"]),
  service: z.string().describe("address of the API"),
  added: texts,
  removed: texts,
  against: z.enum(["lock", "table"]).describe("roles.lock.yaml, or the table of this version"),
  date: z.string().describe("the day of the bundles that it differs from: 2026-11-28"),
  reaches: z.array(Reach).describe("who gained or lost access by it"),
});
export type RoleChange = z.infer<typeof RoleChange>;

/** Whether somebody has written down other roles than the service has. The table is only what this version was made with. */
export const isChange = ({ against }: RoleChange): boolean => against === "lock";

/** The roles of a graph that belong to no group and can be read, by name. */
export const builtInRolesIn = ({ roles }: AccessGraph): Map<string, RoleNode[]> =>
  Map.groupBy(
    [...roles.values()].filter(({ group, capabilities }) => group === null && capabilities.length > 0),
    ({ name }) => name,
  );

/** What each built-in role of a service grants. Two of one name count as one. */
export const bundlesIn = (graph: AccessGraph): Record<string, string[]> =>
  Object.fromEntries(
    [...builtInRolesIn(graph)].map(([name, nodes]) => [
      name,
      [...new Set(nodes.flatMap(({ capabilities }) => capabilities))].sort(),
    ]),
  );

/** By name. `nowMs`: invites that have ended by then reach nobody. */
export const roleChanges = (service: string, live: Live, recorded: LockedRoles, nowMs: number): RoleChange[] => {
  // A service that does not list its roles has not removed them.
  if (live.notVisible.some(({ kind, group }) => kind === "role" && group === "")) return [];
  const nodes = builtInRolesIn(live.graph);
  const bundles = bundlesIn(live.graph);
  const against = recorded.service === undefined ? "table" : "lock";
  const names = [...new Set([...Object.keys(bundles), ...Object.keys(recorded.roles)])].sort();
  const changed = names.flatMap((name) => {
    const [was, is] = [bundleOf(recorded.roles, name), bundleOf(bundles, name)];
    const [added, removed] = [without(is, was), without(was, is)];
    const change = was.length === 0 ? "added" : is.length === 0 ? "removed" : "changed";
    return added.length + removed.length === 0 ? [] : [{ name, change, added, removed } as const];
  });
  if (changed.length === 0) return [];
  const after = everyoneIn(live.graph, nowMs);
  const rows = accessChange(withBundles(after, recorded), after);
  return changed.map((one) => {
    const own = nodes.get(one.name) ?? [];
    const reaches = reachesOf(own, one, after, rows);
    return { ...one, uid: own[0]?.uid ?? null, service, against, date: recorded.date, reaches };
  });
};

const bundleOf = (bundles: LockedRoles["roles"], name: string): readonly string[] =>
  Object.hasOwn(bundles, name) ? (bundles[name] as readonly string[]) : [];

const without = (some: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return some.filter((one) => !known.has(one));
};

/** The same graph with the roles that are written down. */
const withBundles = (graph: AccessGraph, { roles }: LockedRoles): AccessGraph => {
  const before = newGraph(graph);
  for (const nodes of builtInRolesIn(graph).values())
    for (const node of nodes) before.roles.set(node.id, { ...node, capabilities: bundleOf(roles, node.name) });
  return before;
};

/** The bindings of these roles through which somebody gained or lost something. */
const reachesOf = (
  roles: readonly RoleNode[],
  { added, removed }: Pick<RoleChange, "added" | "removed">,
  graph: AccessGraph,
  rows: readonly IdentityChange[],
): Reach[] => {
  const ids = new Set(roles.map(({ id }) => id));
  const byIdentity = new Map(rows.map((one) => [one.identity, one]));
  return [...graph.bindings.values()]
    .flatMap(({ id, identity, group, role }): Reach[] => {
      const change = ids.has(role) ? byIdentity.get(identity) : undefined;
      if (change === undefined) return [];
      const here = (own: IdentityChange["gains"], among: readonly string[]): string[] => {
        const held = new Set(own.flatMap((row) => (row.group === group ? [row.capability] : [])));
        return among.filter((one) => held.has(one));
      };
      const [gains, losses] = [here(change.gains, added), here(change.losses, removed)];
      if (gains.length + losses.length === 0) return [];
      const { name = identity, uid = null } = graph.identities.get(identity) ?? {};
      return [{ identity: uid, name, group, groupName: pathOf(graph, group), binding: id, gains, losses }];
    })
    .sort((a, b) => compare(a.groupName, b.groupName) || compare(a.name, b.name) || compare(a.binding, b.binding));
};
