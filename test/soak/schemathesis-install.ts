// Schemathesis from the Python package index.
import { join } from "node:path";
import { installPythonPackages } from "../support/python-environment.ts";

const VERSION = "4.32.5";

export type Installation = { command: string; reason?: undefined } | { command?: undefined; reason: string };

/** The path of the command, or the reason why it is missing. */
export const installSchemathesis = async (env = process.env): Promise<Installation> => {
  const { folder, reason } = await installPythonPackages(
    { name: `schemathesis-${VERSION}`, title: `Schemathesis ${VERSION}`, packages: [`schemathesis==${VERSION}`] },
    env,
  );
  return folder === undefined ? { reason } : { command: join(folder, "bin", "schemathesis") };
};
