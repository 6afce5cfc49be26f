// What an undo file calls its records, compared with their names now. A person reads the names, and the uids decide: a file that was changed
// in between could grant `owner` where it says `viewer`.
import { isRoot } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { quote } from "../quote.ts";
import type { UndoFile } from "./undo-file.ts";

/** A sentence for each that has another name. What the caller cannot see has the name that the file gives. */
export const renamedIn = (graph: AccessGraph, { holder, bindings }: UndoFile): string[] => {
  const problem = (word: string, uid: NodeId, name: string | undefined, written: string): string[] =>
    name === undefined || name === uid || written === uid || name === written
      ? []
      : [`${word} ${uid} is ${quote(name)}, and not ${quote(written)}`];
  const found = bindings.flatMap(({ group, path, role, roleName }) => [
    ...(isPathOf(graph, path, group) ? [] : problem("group", group, graph.groups.get(group)?.name, path)),
    ...problem("role", role, graph.roles.get(role)?.name, roleName),
  ]);
  const { uid, name, externalGroup } = holder;
  const own =
    externalGroup === undefined
      ? problem("identity", uid, graph.identities.get(uid)?.name, name)
      : problem("identity provider", uid, graph.providers.get(uid)?.name, name);
  return [...new Set([...own, ...found])];
};

/** Another caller may have written the path, who sees more or fewer groups above it, or several organizations: `platform of acme`. */
const isPathOf = (graph: AccessGraph, path: string, group: NodeId): boolean => {
  const { name = "" } = graph.groups.get(group) ?? {};
  if (isRoot(group)) return path === "/" || path.startsWith("/ of ");
  const last = path.split("/").at(-1) ?? "";
  return last === name || last.startsWith(`${name} of `) || path.includes(group);
};
