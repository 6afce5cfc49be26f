// A Node that this package does not take: the first one on the PATH that is too old, or else npm's.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { once, runIn } from "./package.ts";

/** The folder that it is in, to be put before all others on a PATH. */
export const oldNodeFolder = async (): Promise<string> =>
  (process.env.PATH ?? "").split(delimiter).find((folder) => isOld(join(folder, "node"))) ?? (await installOldNode());

const isOld = (command: string): boolean => {
  if (!existsSync(command)) return false;
  const { stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
  return /^v(16|18|20)\./.test(stdout);
};

const installOldNode = (): Promise<string> =>
  once("old-node", (folder) => {
    const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
    runIn(folder, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--force", `${name}@20.20.0`);
    return join(folder, "node_modules", name, "bin");
  });
