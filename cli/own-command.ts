// Processes of this package that run its own modules: by Node, or by the executable, which contains Node and all modules.

import { extname } from "node:path";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

/** Whether this process is the executable. */
export const isStandalone: boolean = isSea();

/** The first argument with which the executable becomes the launcher. */
export const LAUNCH = "launch-provider";

/** The command that starts `irm`, or the launcher of other providers. */
export const ownCommand = (module: "main" | "run/others/launcher"): [string, ...string[]] => {
  if (isStandalone) return module === "main" ? [process.execPath] : [process.execPath, LAUNCH];
  return [process.execPath, fileURLToPath(new URL(`${module}${extname(import.meta.url)}`, import.meta.url))];
};

/** A program in Node has Node on its PATH. */
export const NODE = isStandalone ? "node" : process.execPath;
