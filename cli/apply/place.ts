// The environment of a run that goes through the gate: without credentials of the services, and with a file that says where the gate is.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowedSources } from "../../client/allowed-sources.ts";
import { CREDENTIAL_VARIABLES } from "../../client/credential-settings.ts";
import { RUN, type RunFile, writeRunFile } from "../../client/run-file.ts";
import { OPTION } from "../run/place.ts";

/** `more`: variables of --service that hold credentials. Of a variable that is undefined, a process has none. */
export const withoutCredentials = (env: NodeJS.ProcessEnv, more: readonly string[]): NodeJS.ProcessEnv => {
  const listed = allowedSources(env).allowed.map(({ name }) => name);
  const withheld = new Set([...CREDENTIAL_VARIABLES, ...more, ...listed]);
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, withheld.has(name) || OPTION.test(name) ? undefined : value]),
  );
};

/** Runs `act` with the environment; the file goes with it. */
export const throughGate = async <T>(
  services: RunFile["services"],
  env: NodeJS.ProcessEnv,
  act: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "irm-apply-"));
  try {
    return await act({ ...env, [RUN]: writeRunFile(folder, { kind: "apply", pid: process.pid, services }) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
