// Records that exist before the change, by uid, by path, or by a name that only one of them has. The author of a change chooses the names
// of what it creates, so a text never stands for a new record.
import { isUidp } from "../../schema/index.ts";
import { type AccessGraph, type NodeId, pathOf } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";

export type Kind = "group" | "identity" | "role";

/** One record that a text stands for, or why it stands for none. */
export type Existing = { id: NodeId } | { problem: string };

interface Candidate {
  id: NodeId;
  name: string;
  /** `platform/release`; `/release` in the organization itself; of a group, its own: `platform`, `/` */
  path: string;
  isOrganization: boolean;
}

export const existingIn = (
  graph: AccessGraph,
  notVisible: readonly Pick<NotVisible, "kind">[],
  kind: Kind,
): ((text: string) => Existing) => {
  const candidates = candidatesIn(graph, kind);
  const byPath = Map.groupBy(candidates, ({ path }) => path);
  const byName = Map.groupBy(candidates, ({ name }) => name);
  const ids = new Set(candidates.map(({ id }) => id));
  // One that cannot be seen may have the same name.
  const isComplete = !notVisible.some((one) => one.kind === kind || one.kind === "group");
  const findCandidates = (text: string): readonly Candidate[] => {
    if (text.includes("/")) return byPath.get(text) ?? [];
    const named = byName.get(text) ?? [];
    return kind === "group" ? [...(byPath.get(text) ?? []), ...named.filter((one) => one.isOrganization)] : named;
  };
  return (text) => {
    if (isUidp(text)) return ids.has(text) ? { id: text } : { problem: `no ${kind} that exists has this uid` };
    const [one, another] = findCandidates(text);
    if (one === undefined) return { problem: `no ${kind} that exists has this name` };
    if (another !== undefined) {
      const all = findCandidates(text).map(({ path, id }) => `${path} ${id}`);
      return { problem: `${all.length} have this name: ${all.sort().join(", ")}; give the uid of one` };
    }
    if (!isComplete) return { problem: `you cannot list every ${kind}, so another may have this name; give the uid` };
    return { id: one.id };
  };
};

const candidatesIn = (graph: AccessGraph, kind: Kind): Candidate[] => {
  if (kind === "group")
    return [...graph.groups.values()]
      .filter(({ uid }) => uid !== null)
      .map(({ id, name, parent }) => ({ id, name, path: pathOf(graph, id), isOrganization: parent === null }));
  const nodes = kind === "identity" ? graph.identities : graph.roles;
  return [...nodes.values()]
    .filter(({ uid }) => uid !== null)
    .map(({ id, name, group }) => ({ id, name, path: recordPath(graph, group, name), isOrganization: false }));
};

/** `platform/release`; of a record of the organization itself `/release`. */
export const recordPath = (graph: AccessGraph, group: NodeId | null, name: string): string => {
  const path = group === null ? "" : pathOf(graph, group);
  return path === "/" ? `/${name}` : path === "" ? name : `${path}/${name}`;
};
