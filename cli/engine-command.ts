// The Pulumi engine that a command runs: the one on the PATH; in a clone, the one that `npm run -s pulumi` runs. The clone that the runner
// of a GitHub Action has made is no clone to develop in.
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const engineCommand = (): [string, ...string[]] => {
  const clone = fileURLToPath(new URL("..", import.meta.url));
  const setup = join(clone, "scripts", "with-setup.mjs");
  if (!existsSync(setup) || isOfAction(clone)) return ["pulumi"];
  return [process.execPath, setup, "--engine", "--in-callers-folder", "pulumi"];
};

// https://docs.github.com/actions/reference/workflows-and-actions/variables
const isOfAction = (clone: string): boolean => {
  const { GITHUB_ACTION_PATH: folder } = process.env;
  return folder !== undefined && existsSync(folder) && realpathSync(folder) === realpathSync(clone);
};
