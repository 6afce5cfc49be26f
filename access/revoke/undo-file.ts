// The file in which a revocation writes down what it is going to remove, and from which it is put back.
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { isUidp } from "../../schema/index.ts";

/** Why a revocation cannot go on, in one sentence. */
export class RevokeError extends Error {
  override readonly name = "RevokeError";
}

const uid = z.string().refine(isUidp, "must be a uid");
const UndoFile = z.object({
  version: z.literal(1, "is of another version of irm"),
  identity: z.object({ uid, name: z.string() }),
  bindings: z.array(z.object({ binding: uid, group: uid, path: z.string(), role: uid, roleName: z.string() })),
  /** what goes from the policy: path of a group, key of a role, key of the identity */
  policy: z.array(z.object({ group: z.string(), role: z.string(), identity: z.string() })),
});
export type UndoFile = z.infer<typeof UndoFile>;

/** Only its owner can read it. On the disk before it returns. Throws where the file exists. */
export const writeUndoFile = (file: string, undo: UndoFile): void => {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "wx", 0o600);
    writeFileSync(descriptor, `${JSON.stringify(undo, undefined, 2)}\n`);
    fsyncSync(descriptor);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? `${file} exists already; give another name` : `cannot write ${file}: ${code}`;
    throw new RevokeError(`${why}. Nothing was removed.`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
};

export const readUndoFile = (file: string): UndoFile => {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RevokeError(code === undefined ? `${file} is not JSON` : `cannot read ${file}: ${code}`);
  }
  const { data, error } = UndoFile.safeParse(value);
  if (error) throw new RevokeError(`${file} is not a file that irm revoke wrote: ${z.prettifyError(error)}`);
  return data;
};
