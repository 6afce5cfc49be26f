// The identities and groups that a test means. A name is a key of the policy, or a name with its group. It means the record that has it
// before the change, so that a change cannot take over the name of another identity.
import { isUidp, suggestion } from "../../schema/index.ts";
import { type AccessGraph, lineageOf, type NodeId, pathOf, withoutSlashes } from "../graph/graph.ts";
import { isPeople } from "../graph/people.ts";
import type { PolicyGraph } from "../policy/graph.ts";

/** A name in a test matches nothing, or several records. */
export class NameError extends Error {
  override readonly name = "NameError";
  /** another organization has it */
  readonly isElsewhere: boolean;
  constructor(message: string, isElsewhere = false) {
    super(message);
    this.isElsewhere = isElsewhere;
  }
}

export type Names = ReturnType<typeof namesIn>;

interface NamesOptions {
  /** the records for the keys of a policy */
  keys?: Pick<PolicyGraph, "graph" | "groups" | "identities"> | undefined;
  /** other organizations of the tests, with graphs in the same order */
  others?: readonly Elsewhere[];
}

interface Elsewhere {
  graphs: readonly AccessGraph[];
  organization: NodeId;
  /** no record of another service counts for this one */
  isOtherService: boolean;
}

/**
 * The first of `graphs` in which an organization has a name decides. So a new organization cannot take a name of an old one.
 * `keys` take precedence over them.
 */
export const namesIn = (
  graphs: readonly AccessGraph[],
  organization: NodeId,
  { keys, others = [] }: NamesOptions = {},
) => {
  const isThere = (kind: "groups" | "identities", id: NodeId) => graphs.some((graph) => graph[kind].has(id));
  const pathsIn = (kind: "groups" | "identities") =>
    graphs.map((graph, i) => [
      pathsOf(graph, kind, organization),
      ...others.map((one) => pathsOf(one.graphs[i] as AccessGraph, kind, one.organization)),
    ]);
  const identities = pathsIn("identities");
  const groups = pathsIn("groups");

  /** by organization, its own first */
  const findAll = (what: "identity" | "group", text: string, paths: readonly Paths[][]): (readonly NodeId[])[] => {
    for (const byOrganization of paths) {
      const found = byOrganization.map((byPath) => byPath.get(text) ?? []);
      if (found.some(({ length }) => length > 0)) return found;
    }
    const known = new Set(paths.flat().flatMap((byPath) => [...byPath.keys()]));
    for (const key of what === "identity" ? (keys?.identities.keys() ?? []) : (keys?.groups.keys() ?? []))
      known.add(key);
    throw new NameError(`there is no ${what} ${text}${suggestion(text, known, 3)}`);
  };
  const find = (what: "identity" | "group", text: string, paths: readonly Paths[][]) => {
    const [own] = single(findAll(what, text, paths)[0], text);
    if (own === undefined) throw new NameError(`another organization has the ${what} ${text}`, true);
    return own;
  };
  const single = (found: readonly NodeId[] = [], text: string) => {
    if (found.length > 1) throw new NameError(`${found.length} have the name ${text}; give the uid of one`);
    return found;
  };
  const byUid = (what: "identity" | "group", uid: string) => {
    if (isThere(what === "identity" ? "identities" : "groups", uid)) return uid;
    throw new NameError(`there is no ${what} ${uid}`);
  };
  /** the record of a key, or the path under which the change creates it */
  const byKey = (text: string): { id: NodeId } | { path: string } => {
    const id = keys?.identities.get(text);
    if (keys === undefined || id === undefined) return { path: text.replace(/^\//, "") };
    if (isThere("identities", id)) return { id };
    const { group = "", name = text } = keys.graph.identities.get(id) ?? {};
    return { path: pathOfIdentity(keys.graph, group, name) };
  };

  return {
    identity: (text: string) => {
      if (isUid(text)) return byUid("identity", text);
      const known = byKey(text);
      return "id" in known ? known.id : find("identity", known.path, identities);
    },
    /** The identities that an entry of `only` means: one in each organization that has the name. */
    allowed: (text: string) => {
      // No other record ever gets the uid, so a uid that does not exist excuses no one.
      if (isUid(text)) return [text];
      const known = byKey(text);
      if ("id" in known) return [known.id];
      const isKnown = identities.flat().some((byPath) => byPath.has(known.path));
      // The key is not a mistake before its record exists.
      if (!isKnown && keys?.identities.has(text)) return [];
      return findAll("identity", known.path, identities)
        .filter((_, i) => !others[i - 1]?.isOtherService)
        .flatMap((found) => single(found, text));
    },
    group: (text: string) => {
      if (isUid(text)) return byUid("group", text);
      if (text === "") throw new NameError('"" names no group; the organization itself is /');
      const path = withoutSlashes(text);
      if (path === "") return organization;
      const id = keys?.groups.get(path);
      if (id !== undefined && isThere("groups", id)) return id;
      return find("group", keys && id !== undefined ? pathOf(keys.graph, id) : path, groups);
    },
  };
};

const isUid = (text: string) => isUidp(text);

type Paths = ReadonlyMap<string, readonly NodeId[]>;

const pathsOf = (graph: AccessGraph, kind: "groups" | "identities", organization: NodeId): Paths => {
  const isInside = (group: NodeId) => lineageOf(graph, group).at(-1) === organization;
  if (kind === "groups") return Map.groupBy([...graph.groups.keys()].filter(isInside), (id) => pathOf(graph, id));
  const identities = [...graph.identities.values()].filter(({ group }) => isInside(group));
  const byPath = Map.groupBy(identities, (one) =>
    isPeople(one) ? one.name : pathOfIdentity(graph, one.group, one.name),
  );
  return new Map([...byPath].map(([path, found]) => [path, found.map(({ id }) => id)]));
};

/** An identity of the organization itself has only its name as path. */
export const pathOfIdentity = (graph: AccessGraph, group: NodeId, name: string): string => {
  const path = pathOf(graph, group);
  return path === "/" ? name : `${path}/${name}`;
};
