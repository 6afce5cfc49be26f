// Two graphs as one tree of groups, with who has access where: what is new, what is gone, and what stays.
import { compare } from "../../canonical.ts";
import { capabilitiesIn, worstFirst } from "../../graph/danger.ts";
import { type AccessGraph, type IdentityNode, type NodeId, pathOf } from "../../graph/graph.ts";

export type Mark = "same" | "new" | "gone";

export interface Holder {
  identity: NodeId;
  /** its name, with its group or uid where others have the same name */
  label: string;
  /** where it is renamed */
  nameBefore?: string | undefined;
  mark: Mark;
}

export interface RoleHolders {
  name: string;
  /** where it is renamed */
  nameBefore?: string | undefined;
  /** its capabilities differ */
  changes: boolean;
  holders: Holder[];
}

export interface GroupTree {
  name: string;
  /** where it is renamed */
  nameBefore?: string | undefined;
  path: string;
  mark: Mark;
  roles: RoleHolders[];
  children: GroupTree[];
  /** bindings that are new here */
  added: number;
  /** bindings that are gone */
  removed: number;
  /** whether anything changes here or below */
  hasChange: boolean;
}

interface Graphs {
  before: AccessGraph;
  after: AccessGraph;
}

/** The organizations; and what hangs nowhere, which only a broken service has. */
export const treesOf = (graphs: Graphs): GroupTree[] => {
  const { before, after } = graphs;
  const groups = new Map([...before.groups, ...after.groups]);
  const children = Map.groupBy(groups.values(), ({ parent }) =>
    parent !== null && groups.has(parent) ? parent : null,
  );
  const holders = holdersIn(graphs);
  const seen = new Set<NodeId>();
  const treeOf = (id: NodeId): GroupTree => {
    seen.add(id);
    const { name } = groups.get(id) as { name: string };
    const below = (children.get(id) ?? []).filter((child) => !seen.has(child.id)).map((child) => treeOf(child.id));
    const mark = markOf(before.groups.has(id), after.groups.has(id));
    const roles = holders.get(id) ?? [];
    const marks = roles.flatMap((role) => role.holders).map((holder) => holder.mark);
    const [added, removed] = (["new", "gone"] as const).map((one) => marks.filter((own) => own === one).length) as [
      number,
      number,
    ];
    const formerly = nameBefore(graphs, "groups", id);
    const changesHere =
      added + removed > 0 || mark !== "same" || formerly !== undefined || roles.some((role) => role.changes);
    return {
      name,
      nameBefore: formerly,
      path: pathOf(after.groups.has(id) ? after : before, id),
      mark,
      roles,
      children: below.sort((a, b) => compare(a.name, b.name)),
      added,
      removed,
      hasChange: changesHere || below.some((child) => child.hasChange),
    };
  };
  const trees = (children.get(null) ?? []).map(({ id }) => treeOf(id)).sort((a, b) => compare(a.name, b.name));
  for (const id of groups.keys()) if (!seen.has(id)) trees.push(treeOf(id));
  return trees;
};

const nameBefore = (
  { before, after }: Graphs,
  kind: "groups" | "identities" | "roles",
  id: NodeId,
): string | undefined => {
  const [old, own] = [before[kind].get(id)?.name, after[kind].get(id)?.name];
  return own === undefined || old === own ? undefined : old;
};

/** What is on neither side, such as an identity that is not visible, stays. */
export const markOf = (wasThere: boolean, isThere: boolean): Mark =>
  wasThere === isThere ? "same" : isThere ? "new" : "gone";

const MARKS: readonly Mark[] = ["new", "gone", "same"];

/** The roles in each group, the most dangerous first, with their holders, changes first. Two bindings of one pair count as one. */
const holdersIn = ({ before, after }: Graphs): Map<NodeId, RoleHolders[]> => {
  const pairs = new Map<NodeId, Map<NodeId, Map<NodeId, { before: boolean; after: boolean }>>>();
  for (const [side, graph] of [
    ["before", before],
    ["after", after],
  ] as const)
    for (const { group, role, identity } of graph.bindings.values()) {
      const roles = entryOf(pairs, group, () => new Map());
      const identities = entryOf(roles, role, () => new Map());
      entryOf(identities, identity, () => ({ before: false, after: false }))[side] = true;
    }
  const labelOf = labelsIn({ before, after });
  const roleOf = (id: NodeId) => after.roles.get(id) ?? before.roles.get(id);
  return new Map(
    [...pairs].map(([group, roles]) => [
      group,
      worstFirst(roles.keys(), (role) => ({
        capabilities: capabilitiesIn(after.roles.has(role) ? after.roles : before.roles, role),
        texts: [roleOf(role)?.name],
      })).map((role) => ({
        name: roleOf(role)?.name ?? role,
        nameBefore: nameBefore({ before, after }, "roles", role),
        changes: changesRole({ before, after }, role),
        holders: [...(roles.get(role) ?? [])]
          .map(([identity, sides]) => ({
            identity,
            label: labelOf(identity),
            nameBefore: nameBefore({ before, after }, "identities", identity),
            mark: markOf(sides.before, sides.after),
          }))
          .sort((a, b) => MARKS.indexOf(a.mark) - MARKS.indexOf(b.mark) || compare(a.label, b.label)),
      })),
    ]),
  );
};

const entryOf = <V>(map: Map<NodeId, V>, key: NodeId, create: () => V): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
};

const changesRole = ({ before, after }: Graphs, id: NodeId): boolean => {
  const [old, own] = [before.roles.get(id), after.roles.get(id)];
  return old !== undefined && own !== undefined && old.capabilities.join() !== own.capabilities.join();
};

/** The name of an identity; if others have it, with the group; if they are in one group, with the uid. */
export const labelsIn = ({ before, after }: Graphs): ((identity: NodeId) => string) => {
  const identities = new Map([...before.identities, ...after.identities]);
  const byName = Map.groupBy(identities.values(), ({ name }) => name);
  const label = ({ id, uid, name, group }: IdentityNode): string => {
    const others = (byName.get(name) ?? []).filter((one) => one.id !== id);
    if (others.length === 0) return name;
    if (others.some((one) => one.group === group)) return `${name} (${uid ?? "new"})`;
    return `${name} (in ${pathOf(after.groups.has(group) ? after : before, group)})`;
  };
  return (id) => {
    const node = identities.get(id);
    return node ? label(node) : id;
  };
};
