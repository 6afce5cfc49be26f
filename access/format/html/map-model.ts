// The map of who may do what where: groups as columns, and who acts there as rows, the worst first. Each cell has the strongest that
// holds there, and what a change does to it. A cell is computed when it is asked for, since a page shows a part of a large map.
import { type CapabilityClass, capabilities, getOrInsert } from "../../../schema/index.ts";
import { compare } from "../../canonical.ts";
import { capabilitiesIn, worstClassOf, worstFirst } from "../../graph/danger.ts";
import {
  type AccessGraph,
  type GroupNode,
  type IdentityNode,
  lineageOf,
  type NodeId,
  pathOf,
} from "../../graph/graph.ts";
import type { PeopleGraph } from "../../graph/people.ts";
import { pullTokenExpiry } from "../../query/pull-tokens.ts";

/** The strongest first. `unknown`: a role cannot be read, so it may be anything. */
export const LEVELS = ["unknown", "owns", "gives", "writes", "uses", "reads"] as const;
export type Level = (typeof LEVELS)[number];

export type Mark = "same" | "new" | "gone";

export interface MapGroup {
  id: NodeId;
  name: string;
  /** where it is renamed */
  nameBefore?: string | undefined;
  path: string;
  mark: Mark;
  children: MapGroup[];
  /** groups here and below */
  size: number;
}

export interface MapCell {
  /** null: nothing */
  level: Level | null;
  /** where something changes: the strongest before */
  before?: Level | null;
  gains?: true;
  loses?: true;
  /** a group above gives as much */
  isInherited?: true;
}

export interface MapRow {
  /** of the identity; of people, of the record that gives the access */
  id: NodeId;
  name: string;
  /** `pull token`, `static keys`; absent: an identity, or people, whose name says who they are */
  kind?: string;
  mark: Mark;
  /** groups where a role binding of its own holds, before or after */
  groups: ReadonlySet<NodeId>;
}

export interface AccessMap {
  /** organizations, each with its groups */
  trees: MapGroup[];
  /** those who change, in their order; then the others who hold something, the worst first */
  rows: MapRow[];
  cellOf(row: MapRow, group: NodeId): MapCell;
}

export interface Side {
  graph: AccessGraph;
  /** who has access without an identity */
  people: PeopleGraph;
}

interface MapInput {
  /** absent: nothing changes */
  before?: Side;
  after: Side;
  /** rows that change, the worst first; they stand first */
  changed?: readonly NodeId[];
}

export const mapOf = ({ before, after, changed = [] }: MapInput): AccessMap => {
  const [was, is] = [before ?? after, after];
  const sides = { before: holdingIn(was), after: holdingIn(is) };
  const differs = differenceIn(sides);
  const rows = rowsOf(was, is, sides, new Set(changed));
  const ranks = new Map(changed.map((id, i) => [id, i]));
  return {
    trees: groupTreesIn({ before: was.graph, after: is.graph }),
    rows: [
      ...rows.filter(({ id }) => ranks.has(id)).sort((a, b) => (ranks.get(a.id) ?? 0) - (ranks.get(b.id) ?? 0)),
      ...worstFirst(
        rows.filter(({ id }) => !ranks.has(id)),
        ({ id, name, groups }) => {
          const { worst, place } = sides.after.summaryOf(id, groups);
          return { capabilities: worst === "unknown" ? worst : [], effect: effectOf(worst), place, texts: [name, id] };
        },
      ),
    ],
    cellOf: ({ id }, group) => {
      const [old, own] = [sides.before.heldAt(id, group), sides.after.heldAt(id, group)];
      const nearest = (one: Holding, other: AccessGraph): Held => {
        const place = lineageOf(other, group).find((above) => one.side.graph.groups.has(above));
        return one.heldAt(id, place ?? group).held;
      };
      const { level } = own.held;
      const isInherited = level !== null && own.above === level && { isInherited: true as const };
      // Where the group is new or goes, what holds above it is what was or stays there.
      const { gains, loses } = differs(id, nearest(sides.before, after.graph), nearest(sides.after, was.graph));
      if (!gains && !loses) return { level, ...isInherited };
      return {
        ...{ level, before: old.held.level, ...isInherited },
        ...(gains && { gains: true as const }),
        ...(loses && { loses: true as const }),
      };
    },
  };
};

const effectOf = (level: Level | null): CapabilityClass | null =>
  level === null || level === "unknown" ? null : CLASSES[level];

const CLASSES: Readonly<Record<Exclude<Level, "unknown">, CapabilityClass>> = {
  owns: "grant",
  gives: "grant",
  writes: "write",
  uses: "use",
  reads: "read",
};

/** The roles that hold somewhere, together. */
interface Held {
  key: string;
  level: Level | null;
  roles: readonly NodeId[];
  capabilities: ReadonlySet<string>;
}

interface Holding {
  side: Side;
  /** what a row holds at a group, and the strongest that it holds at the group above */
  heldAt(row: NodeId, group: NodeId): { held: Held; above: Level | null };
  summaryOf(row: NodeId, groups: ReadonlySet<NodeId>): { worst: Level | null; place?: string };
  groupsOf(row: NodeId): Iterable<NodeId>;
}

const GRANTS = capabilities.filter(({ class: one }) => one === "grant").map(({ name }) => name);

const holdingIn = (side: Side): Holding => {
  const { graph, people } = side;
  const own = new Map<NodeId, Map<NodeId, NodeId[]>>();
  const add = (row: NodeId, group: NodeId, role: NodeId): void => {
    const groups = getOrInsert(own, row, () => new Map<NodeId, NodeId[]>());
    getOrInsert(groups, group, () => []).push(role);
  };
  for (const { identity, group, role } of graph.bindings.values()) add(identity, group, role);
  for (const { identity, group, role } of people.bindings.values())
    add(people.identities.get(identity)?.record ?? identity, group, role);

  const known = new Map<string, Held>();
  const together = (roles: readonly NodeId[]): Held => {
    const sorted = [...new Set(roles)].sort(compare);
    const key = sorted.join("\n");
    return getOrInsert(known, key, () => ({ key, roles: sorted, ...strongestOf(graph, sorted) }));
  };
  const nothing = together([]);
  const cells = new Map<NodeId, Map<NodeId, Held>>();
  const heldBy = (row: NodeId, group: NodeId | null | undefined): Held => {
    if (group === null || group === undefined || !own.has(row)) return nothing;
    const groups = getOrInsert(cells, row, () => new Map<NodeId, Held>());
    const found = groups.get(group);
    if (found) return found;
    // A cycle of groups, which only a broken service has, ends here.
    groups.set(group, nothing);
    const above = heldBy(row, graph.groups.get(group)?.parent);
    const roles = own.get(row)?.get(group);
    const held = roles === undefined ? above : together([...above.roles, ...roles]);
    groups.set(group, held);
    return held;
  };
  return {
    side,
    heldAt: (row, group) => ({
      held: heldBy(row, group),
      above: heldBy(row, graph.groups.get(group)?.parent).level,
    }),
    groupsOf: (row) => own.get(row)?.keys() ?? [],
    summaryOf: (row, groups) => {
      const places = worstFirst(groups, (group) => {
        const { level } = heldBy(row, group);
        return {
          capabilities: level === "unknown" ? level : [],
          effect: effectOf(level),
          place: pathOf(graph, group),
          texts: [],
        };
      });
      const [first] = places;
      return first === undefined ? { worst: null } : { worst: heldBy(row, first).level, place: pathOf(graph, first) };
    },
  };
};

const strongestOf = (
  graph: AccessGraph,
  roles: readonly NodeId[],
): { level: Level | null; capabilities: ReadonlySet<string> } => {
  const held = roles.map((role) => capabilitiesIn(graph.roles, role));
  const all = new Set(held.flatMap((one) => (one === "unknown" ? [] : [...one])));
  const isOwner = roles.some((id) => {
    const role = graph.roles.get(id);
    return role?.group === null && role.name === "owner";
  });
  if (isOwner || GRANTS.every((one) => all.has(one))) return { level: "owns", capabilities: all };
  if (held.includes("unknown")) return { level: "unknown", capabilities: all };
  const worst = worstClassOf(all);
  return { level: worst && LEVEL_OF[worst], capabilities: all };
};

const LEVEL_OF: Readonly<Record<CapabilityClass, Level>> = {
  grant: "gives",
  write: "writes",
  use: "uses",
  read: "reads",
};

/** What a change does to what somebody holds at a group. */
const differenceIn = ({ before, after }: { before: Holding; after: Holding }) => {
  const known = new Map<string, { gains: boolean; loses: boolean }>();
  const others = otherPeople(before.side.people, after.side.people);
  const changes = new Set(
    [...after.side.graph.roles.values()]
      .filter(({ id, capabilities: own }) => before.side.graph.roles.get(id)?.capabilities.join() !== own.join())
      .map(({ id }) => id),
  );
  const missing = (one: Held, other: Held): boolean =>
    [...one.capabilities].some((capability) => !other.capabilities.has(capability)) ||
    // What cannot be read may be anything.
    (one.level === "unknown" && one.roles.some((role) => !other.roles.includes(role)));
  return (row: NodeId, old: Held, own: Held): { gains: boolean; loses: boolean } => {
    if (others.has(row)) return { gains: own.level !== null, loses: old.level !== null };
    if (old.key === own.key && !own.roles.some((role) => changes.has(role))) return { gains: false, loses: false };
    const key = `${old.key}\n\n${own.key}`;
    return getOrInsert(known, key, () => ({ gains: missing(own, old), loses: missing(old, own) }));
  };
};

/** The records whose people become others: they share nothing with those before. */
const otherPeople = (before: PeopleGraph, after: PeopleGraph): Set<NodeId> => {
  const was = new Map([...before.identities.values()].map(({ record, id }) => [record, id]));
  return new Set(
    [...after.identities.values()].flatMap(({ record, id }) =>
      was.has(record) && was.get(record) !== id ? [record] : [],
    ),
  );
};

const rowsOf = (
  was: Side,
  is: Side,
  sides: { before: Holding; after: Holding },
  changed: ReadonlySet<NodeId>,
): MapRow[] => {
  const labelOf = labelsIn({ before: was.graph, after: is.graph });
  const row = (id: NodeId, name: string, wasThere: boolean, isThere: boolean, kind?: string): MapRow => ({
    ...{ id, name, mark: markOf(wasThere, isThere), ...(kind !== undefined && { kind }) },
    groups: new Set([...sides.before.groupsOf(id), ...sides.after.groupsOf(id)]),
  });
  const identities = new Map([...was.graph.identities, ...is.graph.identities]);
  // A role binding may be of an identity that is not visible.
  for (const { graph } of [was, is])
    for (const { identity: id } of graph.bindings.values())
      if (!identities.has(id)) identities.set(id, { id, uid: id, name: id, group: "", relationship: null });
  const people = new Map(
    [...was.people.identities.values(), ...is.people.identities.values()].map((one) => [one.record, one]),
  );
  const records = (side: Side): Set<NodeId> =>
    new Set([...side.people.identities.values()].map(({ record }) => record));
  const [wereThere, areThere] = [records(was), records(is)];
  return [
    ...[...identities.values()].map(({ id, relationship }) =>
      row(id, labelOf(id), was.graph.identities.has(id), is.graph.identities.has(id), kindOf(relationship)),
    ),
    ...[...people.values()].map(({ record, name }) => row(record, name, wereThere.has(record), areThere.has(record))),
  ].filter(({ id, groups }) => groups.size > 0 || changed.has(id));
};

const kindOf = (relationship: Parameters<typeof pullTokenExpiry>[0]): string | undefined => {
  if (pullTokenExpiry(relationship) !== undefined) return "pull token";
  return relationship?.staticKeys ? "static keys" : undefined;
};

interface Graphs {
  before: AccessGraph;
  after: AccessGraph;
}

/** The organizations; and what hangs nowhere, which only a broken service has. */
const groupTreesIn = ({ before, after }: Graphs): MapGroup[] => {
  const groups = new Map([...before.groups, ...after.groups]);
  const children = Map.groupBy(groups.values(), ({ parent }) => (groups.has(parent ?? "") ? parent : null));
  const seen = new Set<NodeId>();
  const byName = (a: MapGroup, b: MapGroup): number => compare(a.name, b.name) || compare(a.id, b.id);
  const treeOf = ({ id, name }: GroupNode): MapGroup => {
    seen.add(id);
    const below = (children.get(id) ?? []).filter((one) => !seen.has(one.id)).map(treeOf);
    const old = before.groups.get(id)?.name;
    return {
      ...{
        id,
        name,
        nameBefore: old === name ? undefined : old,
        path: pathOf(after.groups.has(id) ? after : before, id),
      },
      mark: markOf(before.groups.has(id), after.groups.has(id)),
      children: below.sort(byName),
      size: 1 + below.reduce((sum, { size }) => sum + size, 0),
    };
  };
  const trees = (children.get(null) ?? []).map(treeOf).sort(byName);
  for (const one of groups.values()) if (!seen.has(one.id)) trees.push(treeOf(one));
  return trees;
};

/** What is on neither side, such as an identity that is not visible, stays. */
const markOf = (wasThere: boolean, isThere: boolean): Mark =>
  wasThere === isThere ? "same" : isThere ? "new" : "gone";

/** The name of an identity; if others have it, with the group; if they are in one group, with the uid. */
const labelsIn = ({ before, after }: Graphs): ((identity: NodeId) => string) => {
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

/** The strongest of two; null is nothing. */
export const stronger = (one: Level | null, other: Level | null): Level | null => {
  if (one === null || other === null) return one ?? other;
  return LEVELS.indexOf(one) <= LEVELS.indexOf(other) ? one : other;
};
