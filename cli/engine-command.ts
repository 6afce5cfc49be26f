// The Pulumi engine that a command runs: the one on the PATH; in a clone, the one that `npm run -s pulumi` runs.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const engineCommand = (): [string, ...string[]] => {
  const setup = fileURLToPath(new URL("../scripts/with-setup.mjs", import.meta.url));
  if (!existsSync(setup)) return ["pulumi"];
  return [process.execPath, setup, "--engine", "--in-callers-folder", "pulumi"];
};
