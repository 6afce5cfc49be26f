// The user of the program. `irm apply --user` runs the engine, the program and all providers as another user. That user can reach neither the
// memory nor the files of this process. Files that this user can write are read as this user too: a link must not show other files.
import { execFileSync } from "node:child_process";
import { chmodSync, lchownSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../schema/index.ts";
import { UsageError } from "../irm-command.ts";

export interface ProgramUser {
  /** of each new process. In a session of its own, it cannot type into the terminal of this process. */
  spawn: { uid: number; gid: number; detached: true };
  /** the differences of its environment */
  env: NodeJS.ProcessEnv;
}

/** Throws UsageError. */
export const programUser = (name: string): ProgramUser => {
  const refuse = (why: string) => {
    throw new UsageError(`--user ${JSON.stringify(name)}: ${why}`);
  };
  if (process.getuid?.() !== 0) return refuse("only root can run the program as another user");
  if (!/^[a-z_][\w.-]*$/i.test(name)) return refuse("is not the name of a user");
  const [uid, gid] = ["-u", "-g"].map((flag) => {
    try {
      return Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
    } catch {
      return refuse("there is no such user on this machine");
    }
  }) as [number, number];
  if (uid === 0) return refuse("may do what this process may");
  const home = execFileSync("sh", ["-c", `echo ~${name}`], { encoding: "utf8" }).trim();
  return { spawn: { uid, gid, detached: true }, env: { HOME: home, USER: name, LOGNAME: name } };
};

/** The content of a file as this user sees it; without one, as this process does. Throws UserError. */
export const readAs = (user: ProgramUser | undefined, file: string): Buffer => {
  if (user === undefined) return readFileSync(file);
  const { uid, gid } = user.spawn;
  try {
    return execFileSync("cat", ["--", file], {
      uid,
      gid,
      cwd: "/",
      maxBuffer: BYTES_MAX,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch {
    throw new UserError(`the user ${user.env.USER} cannot read ${file}`);
  }
};

const BYTES_MAX = 256 * 1024 * 1024;

/**
 * Gives the user the content of a folder, and lets it enter. Only this process had access before. Makes `files` for the user, who cannot
 * replace the entries of the folder.
 */
export const giveFolder = ({ spawn: { uid, gid } }: ProgramUser, folder: string, files: readonly string[]): void => {
  for (const name of files) writeFileSync(join(folder, name), "", { mode: 0o600 });
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    lchownSync(join(folder, entry), uid, gid);
  chmodSync(folder, 0o711);
};

/** Empties the folder as that user, who may replace its entries by links meanwhile. Later files of that user stay. */
export const removeFolder = ({ spawn: { uid, gid } }: ProgramUser, folder: string): void => {
  const own = readdirSync(folder, { withFileTypes: true });
  const folders = own.filter((one) => one.isDirectory()).map(({ name }) => join(folder, name));
  execFileSync("find", [...folders, "-mindepth", "1", "-delete"], { uid, gid, cwd: "/", stdio: "ignore" });
  for (const one of own) (one.isDirectory() ? rmdirSync : unlinkSync)(join(folder, one.name));
  rmdirSync(folder);
};
