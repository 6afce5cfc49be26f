// Paths and output that all set-up scripts share. Plain JavaScript: it runs on Node 20, before anything is installed.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const binFolder = join(root, "node_modules", ".bin");

/**
 * The compiler of this project: TypeScript 7, which is native and needs less than half the processor time. `typescript` itself is
 * 5.9, for those that call it as a library: the SDK, rollup-plugin-dts, test/support/type-shape.ts. Both packages have a `tsc`. With several
 * threads, it checks shared types several times. On two processors, one thread takes 7.2 instead of 10.6 s, and 8 instead of 21 s of
 * processor time.
 */
export const compilerArgs = [join(root, "node_modules", "typescript-7", "bin", "tsc"), "--singleThreaded"];

/** Prints to stderr: stdout belongs to the command that runs after the set-up. */
export function log(/** @type {string} */ text) {
  process.stderr.write(`pulumi-irm: ${text}\n`);
}

/**
 * Paths of the files of this clone, without those that Git ignores. Git lists a deleted file until that is staged.
 * @param {string[]} patterns
 */
export function filesOfClone(...patterns) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...patterns];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 30 });
  return listed.split("\0").filter((path) => path !== "" && existsSync(join(root, path)));
}

/** @returns {Promise<boolean>} */
export function isExecutable(/** @type {string} */ file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The first executable of that name in a list of folders as PATH has it.
 * @returns {Promise<string | undefined>}
 */
export async function findOnPath(/** @type {string} */ name, /** @type {string | undefined} */ path) {
  for (const folder of (path ?? "").split(delimiter)) {
    if (folder === "") continue;
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}
