// The file in which a revocation records the access that it is going to remove, and from which it is restored.
import { closeSync, fstatSync, openSync, readFileSync, type Stats, writeFileSync } from "node:fs";
import { z } from "zod";
import { isRoot, isUidp, UserError } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { quote } from "../text.ts";

/** For the requests that were not sent after ^C. */
export const interrupted = (): UserError => new UserError("interrupted");

const uid = z.string().refine(isUidp, "must be a uid");
const UndoFile = z.object({
  version: z.literal(1, "is of another version of irm"),
  /** the identity; for an external group, its identity provider, and its id as a sign-in names it */
  holder: z.object({ uid, name: z.string(), externalGroup: z.string().optional() }),
  /** role bindings; for an external group, mappings; with the path of the group where each gives the role */
  bindings: z.array(z.object({ binding: uid, group: uid, path: z.string(), role: uid, roleName: z.string() })),
  /** rows that are removed from the policy: path of a group, key of a role, key of the identity */
  policy: z.array(z.object({ group: z.string(), role: z.string(), identity: z.string() })),
});
export type UndoFile = z.infer<typeof UndoFile>;

/** Only its owner can read it. It is on the disk before this returns. Throws if the file exists. */
export const writeUndoFile = (file: string, undo: UndoFile): void => {
  try {
    writeFileSync(file, `${JSON.stringify(undo, undefined, 2)}\n`, { flag: "wx", mode: 0o600, flush: true });
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? `${file} exists already; give another name` : `cannot write ${file}: ${code}`;
    throw new UserError(`${why}. Nothing was removed.`);
  }
};

export const readUndoFile = (file: string): UndoFile => {
  let value: unknown;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const problem = ownerProblem(fstatSync(descriptor));
    if (problem !== undefined)
      throw new UserError(
        `${file} ${problem}, who can change what it grants. Nothing was put back; read it, and give a copy of your own.`,
      );
    value = JSON.parse(readFileSync(descriptor, "utf8"));
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(code === undefined ? `${file} is not JSON` : `cannot read ${file}: ${code}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  const { data, error } = UndoFile.safeParse(value);
  if (error) throw new UserError(`${file} is not a file that irm revoke wrote: ${z.prettifyError(error)}`);
  return data;
};

const OTHERS_WRITE = 0o002;

/** Why another user could have changed the file. Windows does not report it. */
const ownerProblem = ({ uid, mode }: Stats) => {
  const own = process.getuid?.();
  if (own === undefined) return undefined;
  if (uid !== own && uid !== 0) return "belongs to another user of this machine";
  return (mode & OTHERS_WRITE) === 0 ? undefined : "can be written by every user of this machine";
};

// The names of records in an undo file, compared with their names now. A person reads the names, and the uids decide: an edited file could
// grant `owner` where it names `viewer`.

/** A sentence for each record that has another name. A record that the caller cannot see keeps its name from the file. */
export const renamedIn = (graph: AccessGraph, { holder, bindings }: UndoFile): string[] => {
  const problem = (word: string, uid: NodeId, name: string | undefined, written: string) =>
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

/** Another caller may have written the path, one who sees more or fewer groups above it, or several organizations: `platform of acme`. */
const isPathOf = (graph: AccessGraph, path: string, group: NodeId) => {
  const { name = "" } = graph.groups.get(group) ?? {};
  if (isRoot(group)) return path === "/" || path.startsWith("/ of ");
  const last = path.split("/").at(-1) ?? "";
  return last === name || last.startsWith(`${name} of `) || path.includes(group);
};
