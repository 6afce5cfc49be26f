// Where this clone is, and the few paths and words that every set-up script shares. Plain JavaScript on purpose:
// it runs on Node 20, in a clone in which nothing is installed yet.
import { access, constants } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const binFolder = join(root, "node_modules", ".bin");

/** Set-up talks on stderr only: stdout belongs to the command that is being set up for. */
export function say(/** @type {string} */ text) {
  process.stderr.write(`pulumi-irm: ${text}\n`);
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
