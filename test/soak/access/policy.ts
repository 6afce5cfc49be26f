// An organization as the policy that describes it. Records have their uids as keys, so that the policy can name all of them.
import { type AccessGraph, lineageOf, type NodeId, newGraph, pathOf } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { type Policy, ROOT } from "../../../access/policy/policy.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import type { Json } from "../../../schema/index.ts";
import { proposalBetween } from "../../access/proposals.ts";
import { renameRecords } from "./renamed.ts";

/** Undefined: two records of one kind have one name in one group, which a policy cannot tell apart. */
export const policyOf = (organization: string, graph: AccessGraph): Policy | undefined => {
  const isInside = (id: NodeId): boolean => id.startsWith(`${organization}/`);
  const keyOf = (group: NodeId): string => (group === organization ? ROOT : group.slice(organization.length + 1));
  const groups = [...graph.groups.values()].filter(({ id }) => isInside(id));
  const identities = [...graph.identities.values()].filter(({ id }) => isInside(id));
  const roles = [...graph.roles.values()].filter(({ id }) => isInside(id));
  const named = [
    ...groups.map(({ parent, name }) => `group ${parent} ${name}`),
    ...identities.map(({ group, name }) => `identity ${group} ${name}`),
    ...roles.map(({ group, name }) => `role ${group} ${name}`),
  ];
  if (new Set(named).size < named.length) return undefined;
  const bindings = [...graph.bindings.values()].filter(({ id, identity }) => isInside(id) && isInside(identity));
  const rows = bindings.map(({ group, identity, role }) => ({
    group: keyOf(group),
    identity,
    role: isInside(role) ? role : (graph.roles.get(role)?.name ?? role),
  }));
  return {
    organization: { uid: organization },
    groups: new Map(
      groups
        .sort((a, b) => a.id.length - b.id.length)
        .map(({ id, name, parent }) => [keyOf(id), { path: keyOf(id), parent: keyOf(parent as string), name }]),
    ),
    identities: new Map(
      identities.map(({ id, name, group, relationship }) => [
        id,
        { key: id, name, group: keyOf(group), relationship: relationship as Json },
      ]),
    ),
    roles: new Map(
      roles.map(({ id, name, group, capabilities }) => [
        id,
        { key: id, name, group: keyOf(group as string), capabilities },
      ]),
    ),
    bindings: [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()],
    tests: [],
    people: new Map(),
  };
};

/** Throws what the policy cannot say of this organization. */
export const policyProposal = (policy: Policy, live: Live): Proposal => {
  const { graph, mistakes } = policyGraph(policy, live.graph);
  if (mistakes.length > 0) throw new Error(mistakes.map(({ text }) => text).join("\n"));
  return proposalBetween(newGraph(live.graph), newGraph(graph));
};

/** The graph of a proposal with the uids that records of the same names have in `named`. */
export const withUidsOf = (named: AccessGraph, graph: AccessGraph): AccessGraph => {
  const uids = new Map<string, NodeId>();
  const pathIn = (one: AccessGraph, kind: string, { name, group }: { name: string; group: NodeId | null }): string =>
    group === null ? `${kind} ${name}` : `${kind} ${lineageOf(one, group).at(-1)} ${pathOf(one, group)} ${name}`;
  const placed = (one: AccessGraph): [string, NodeId][] => [
    ...[...one.groups.values()].map(({ id, name, parent }): [string, NodeId] => [
      pathIn(one, "group", { name, group: parent }),
      id,
    ]),
    ...[...one.identities.values()].map((node): [string, NodeId] => [pathIn(one, "identity", node), node.id]),
    ...[...one.roles.values()].map((node): [string, NodeId] => [pathIn(one, "role", node), node.id]),
  ];
  for (const [path, id] of placed(named)) uids.set(path, id);
  const renames = new Map(placed(graph).map(([path, id]) => [id, uids.get(path) ?? id]));
  return renameRecords(graph, (id) => renames.get(id) ?? id);
};
