// The map of who may do what where: groups as columns, and identities and people as rows, the worst first. Each cell has the strongest
// level that holds there, and its change. A cell is computed on request, since a page shows a part of a large map.
import { type CapabilityClass, capabilities, getOrInsert, type Json } from "../../../schema/index.ts";
import { compare } from "../../canonical.ts";
import { type Capabilities, capabilitiesIn, worstClassOf, worstFirst } from "../../graph/danger.ts";
import { type AccessGraph, type GroupNode, lineageOf, type NodeId, pathOf } from "../../graph/graph.ts";
import type { PeopleGraph } from "../../graph/people.ts";
import { pullTokenExpiry } from "../../query/pull-tokens.ts";

/** The strongest first. `unknown`: a role cannot be read, so it may be anything. */
export const LEVELS = ["unknown", "owns", "gives", "writes", "uses", "reads"] as const;
export type Level = (typeof LEVELS)[number];

export type Mark = "same" | "new" | "gone";

export interface MapGroup {
  id: NodeId;
  name: string;
  /** the old name if it is renamed */
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
  /** if something changes: the strongest level before */
  before?: Level | null;
  gains?: boolean;
  loses?: boolean;
  /** a group above already gives this level */
  isInherited: boolean;
}

export interface MapRow {
  /** of the identity; of people, of the record that gives the access */
  id: NodeId;
  name: string;
  /** `pull token`, `static keys`; undefined: an identity, or people, whose name says who they are */
  kind: string | undefined;
  mark: Mark;
  /** groups of its role bindings, before or after */
  groups: ReadonlySet<NodeId>;
}

export type AccessMap = ReturnType<typeof mapOf>;

export interface Side {
  graph: AccessGraph;
  /** who has access without an identity */
  people: PeopleGraph;
}

interface MapInput {
  /** absent: nothing changes */
  before?: Side;
  after: Side;
  /** rows that change, the worst first; they come first in the map */
  changed?: readonly NodeId[];
}

export const mapOf = ({ before, after, changed = [] }: MapInput) => {
  const [was, is] = [holdingIn(before ?? after), holdingIn(after)];
  const rows = rowsOf(was, is, new Set(changed));
  const differs = differenceIn(was.people, is.people);
  return {
    /** organizations, each with its groups */
    trees: groupTreesIn(was.graph, is.graph),
    /** rows that change, in their order; then the other rows that hold something, the worst first */
    rows: [
      ...changed.flatMap((id) => rows.get(id) ?? []),
      ...worstFirst(
        [...rows.values()].filter(({ id }) => !changed.includes(id)),
        ({ id, name, groups }) => {
          const [worst] = worstFirst(
            Array.from(groups, (group) => ({
              capabilities: worthOf(is.heldAt(id, group)),
              place: pathOf(is.graph, group),
            })),
            (one) => ({ ...one, texts: [] }),
          );
          return { ...worst, texts: [name, id] };
        },
      ),
    ],
    cellOf: ({ id }: MapRow, group: NodeId): MapCell => {
      const { level } = is.heldAt(id, group);
      const isInherited = level !== null && is.heldAt(id, is.graph.groups.get(group)?.parent).level === level;
      // If the group is new or deleted, the access from above on the other side counts.
      const nearest = (one: Holding, other: Holding) =>
        one.heldAt(id, lineageOf(other.graph, group).find((above) => one.graph.groups.has(above)) ?? group);
      const change = differs(id, nearest(was, is), nearest(is, was));
      if (!change.gains && !change.loses) return { level, isInherited };
      return { level, before: was.heldAt(id, group).level, isInherited, ...change };
    },
  };
};

/** The roles that hold at a place, together. */
interface Held {
  key: string;
  level: Level | null;
  roles: ReadonlySet<NodeId>;
  capabilities: ReadonlySet<string>;
}

type Holding = ReturnType<typeof holdingIn>;

const worthOf = ({ level, capabilities: held }: Held): Capabilities =>
  level === "unknown" || level === "owns" ? "unknown" : held;

const holdingIn = ({ graph, people }: Side) => {
  /** roles by row and group of the bindings */
  const own = new Map<NodeId, Map<NodeId, NodeId[]>>();
  for (const { identity, group, role } of [...graph.bindings.values(), ...people.bindings.values()]) {
    const row = people.identities.get(identity)?.record ?? identity;
    getOrInsert(
      getOrInsert(own, row, () => new Map<NodeId, NodeId[]>()),
      group,
      () => [],
    ).push(role);
  }
  const known = new Map<string, Held>();
  const together = (all: Iterable<NodeId>): Held => {
    const roles = new Set([...all].sort(compare));
    const key = [...roles].join("\n");
    return getOrInsert(known, key, () => ({ key, roles, ...strongestOf(graph, [...roles]) }));
  };
  const nothing = together([]);
  const cells = new Map<NodeId, Map<NodeId, Held>>();
  const heldAt = (row: NodeId, group: NodeId | null | undefined): Held => {
    if (group === null || group === undefined || !own.has(row)) return nothing;
    const groups = getOrInsert(cells, row, () => new Map<NodeId, Held>());
    const found = groups.get(group);
    if (found) return found;
    // A cycle of groups, which only a faulty service has, ends here.
    groups.set(group, nothing);
    const above = heldAt(row, graph.groups.get(group)?.parent);
    const roles = own.get(row)?.get(group);
    const held = roles === undefined ? above : together([...above.roles, ...roles]);
    groups.set(group, held);
    return held;
  };
  return { graph, people, own, heldAt };
};

const GRANTS = capabilities.filter(({ class: one }) => one === "grant").map(({ name }) => name);

const strongestOf = (graph: AccessGraph, roles: readonly NodeId[]): Pick<Held, "level" | "capabilities"> => {
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

/** The change of the access of a row at a group. */
const differenceIn = (before: PeopleGraph, after: PeopleGraph) => {
  const known = new Map<string, { gains: boolean; loses: boolean }>();
  const idsBefore = idsByRecord(before);
  // If the people of a record change, the new people share nothing with those before.
  const others = new Set(
    [...idsByRecord(after)].flatMap(([record, id]) => ([undefined, id].includes(idsBefore.get(record)) ? [] : record)),
  );
  const hasMore = (one: Held, other: Held) =>
    !one.capabilities.isSubsetOf(other.capabilities) ||
    // An unreadable role may be anything.
    (one.level === "unknown" && !one.roles.isSubsetOf(other.roles));
  return (row: NodeId, old: Held, own: Held): { gains: boolean; loses: boolean } =>
    others.has(row)
      ? { gains: own.level !== null, loses: old.level !== null }
      : getOrInsert(known, `${old.key}\n\n${own.key}`, () => ({ gains: hasMore(own, old), loses: hasMore(old, own) }));
};

const idsByRecord = ({ identities }: PeopleGraph) =>
  new Map([...identities.values()].map(({ record, id }) => [record, id]));

/** The rows that hold something or change, by id. */
const rowsOf = (was: Holding, is: Holding, changed: ReadonlySet<NodeId>): Map<NodeId, MapRow> => {
  const labelOf = labelsIn(was.graph, is.graph);
  const namesIn = ({ graph, people }: Holding) =>
    new Map([
      ...[...graph.identities.keys()].map((id) => [id, labelOf(id)] as const),
      ...[...people.identities.values()].map(({ record, name }) => [record, name] as const),
    ]);
  const [before, after] = [namesIn(was), namesIn(is)];
  // A role binding may name an identity that is not visible.
  const ids = new Set([before, was.own, after, is.own].flatMap((one) => [...one.keys()]));
  return new Map(
    [...ids].flatMap((id) => {
      const groups = new Set([was, is].flatMap(({ own }) => [...(own.get(id)?.keys() ?? [])]));
      if (groups.size === 0 && !changed.has(id)) return [];
      const { relationship = null } = is.graph.identities.get(id) ?? was.graph.identities.get(id) ?? {};
      const name = after.get(id) ?? before.get(id) ?? id;
      const mark = markOf(before.has(id), after.has(id));
      return [[id, { id, name, kind: kindOf(relationship), mark, groups }] as const];
    }),
  );
};

const kindOf = (relationship: Json | null) => {
  if (pullTokenExpiry(relationship) !== undefined) return "pull token";
  return relationship?.staticKeys ? "static keys" : undefined;
};

/** The organizations; and groups without a root, which only a faulty service has. */
const groupTreesIn = (before: AccessGraph, after: AccessGraph): MapGroup[] => {
  const groups = new Map([...before.groups, ...after.groups]);
  const children = Map.groupBy(groups.values(), ({ parent }) => (groups.has(parent ?? "") ? parent : null));
  const seen = new Set<NodeId>();
  const byName = (a: MapGroup, b: MapGroup) => compare(a.name, b.name) || compare(a.id, b.id);
  const treeOf = ({ id, name }: GroupNode): MapGroup => {
    seen.add(id);
    const below = (children.get(id) ?? []).filter((one) => !seen.has(one.id)).map(treeOf);
    const old = before.groups.get(id)?.name;
    return {
      id,
      name,
      nameBefore: old === name ? undefined : old,
      path: pathOf(after.groups.has(id) ? after : before, id),
      mark: markOf(before.groups.has(id), after.groups.has(id)),
      children: below.sort(byName),
      size: 1 + below.reduce((sum, { size }) => sum + size, 0),
    };
  };
  const trees = (children.get(null) ?? []).map(treeOf).sort(byName);
  for (const one of groups.values()) if (!seen.has(one.id)) trees.push(treeOf(one));
  return trees;
};

/** A record that is on neither side, such as an identity that is not visible, counts as unchanged. */
const markOf = (wasThere: boolean, isThere: boolean) => (wasThere === isThere ? "same" : isThere ? "new" : "gone");

/** The name of an identity; with the group if others have the name; with the uid if they are in one group. */
const labelsIn = (before: AccessGraph, after: AccessGraph): ((identity: NodeId) => string) => {
  const identities = new Map([...before.identities, ...after.identities]);
  const byName = Map.groupBy(identities.values(), ({ name }) => name);
  return (id) => {
    const { uid = null, name = id, group = "" } = identities.get(id) ?? {};
    const others = (byName.get(name) ?? []).filter((one) => one.id !== id);
    if (others.length === 0) return name;
    if (others.some((one) => one.group === group)) return `${name} (${uid ?? "new"})`;
    return `${name} (in ${pathOf(after.groups.has(group) ? after : before, group)})`;
  };
};

/** The strongest of these; null means nothing. */
export const strongest = (levels: readonly (Level | null | undefined)[]): Level | null =>
  LEVELS.find((level) => levels.includes(level)) ?? null;
