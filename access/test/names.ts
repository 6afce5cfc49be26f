// Whom and where a test means. A name is a key of the policy, or a name with its group; it stands for the record that has it before the
// change, so that a change cannot take over the name of another identity.
import { isUidp, suggestion } from "../../schema/index.ts";
import { type AccessGraph, lineageOf, type NodeId, pathOf, withoutSlashes } from "../graph/graph.ts";
import type { PolicyGraph } from "../policy/graph.ts";
import { isPeople } from "./everyone.ts";

/** A name of a test stands for nothing, or for several. */
export class NameError extends Error {
  override readonly name = "NameError";
}

export interface Names {
  identity(text: string): NodeId;
  /** An identity that `only` lists. */
  allowed(text: string): NodeId;
  group(text: string): NodeId;
}

/** What the keys of a policy stand for. */
export type Keys = Pick<PolicyGraph, "graph" | "groups" | "identities">;

/** The first of `graphs` that has a name decides; `keys` come before them. */
export const namesIn = (graphs: readonly AccessGraph[], organization: NodeId, keys?: Keys): Names => {
  const isThere = (kind: "groups" | "identities", id: NodeId): boolean => graphs.some((graph) => graph[kind].has(id));
  const identities = graphs.map((graph) => pathsOf(graph, "identities", organization));
  const groups = graphs.map((graph) => pathsOf(graph, "groups", organization));

  const find = (what: "identity" | "group", text: string, paths: readonly Paths[]): NodeId => {
    for (const byPath of paths) {
      const [one, another] = byPath.get(text) ?? [];
      if (another !== undefined)
        throw new NameError(`${byPath.get(text)?.length} have the name ${text}; give the uid of one`);
      if (one !== undefined) return one;
    }
    const known = new Set(paths.flatMap((byPath) => [...byPath.keys()]));
    for (const key of what === "identity" ? (keys?.identities.keys() ?? []) : (keys?.groups.keys() ?? []))
      known.add(key);
    throw new NameError(`there is no ${what} ${text}${suggestion(text, known, 3)}`);
  };
  const byUid = (what: "identity" | "group", uid: string): NodeId => {
    if (isThere(what === "identity" ? "identities" : "groups", uid)) return uid;
    throw new NameError(`there is no ${what} ${uid}`);
  };

  const identity = (text: string): NodeId => {
    if (isUid(text)) return byUid("identity", text);
    const id = keys?.identities.get(text);
    if (id === undefined) return find("identity", text.replace(/^\//, ""), identities);
    if (isThere("identities", id)) return id;
    const { group = "", name = text } = keys?.graph.identities.get(id) ?? {};
    return find("identity", keys ? pathOfIdentity(keys.graph, group, name) : text, identities);
  };

  return {
    identity,
    allowed: identity,
    group: (text) => {
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

const isUid = (text: string): boolean => isUidp(text);

type Paths = ReadonlyMap<string, readonly NodeId[]>;

const pathsOf = (graph: AccessGraph, kind: "groups" | "identities", organization: NodeId): Paths => {
  const isInside = (group: NodeId): boolean => lineageOf(graph, group).at(-1) === organization;
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
