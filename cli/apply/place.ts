// The environment of a run that goes through the gate: without credentials of the services, and with a file that says where the gate is.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../../access/change/change.ts";
import { methodOf } from "../../access/change/methods.ts";
import { allowedSources } from "../../client/allowed-sources.ts";
import { ELSEWHERE_FILE, RUN, type RunFile, writeRunFile } from "../../client/run-file.ts";
import { withoutVariables } from "../run/place.ts";
import { giveFolder, type ProgramUser } from "../run/user.ts";

/** `more`: variables of --service that hold credentials. */
export const withoutCredentials = (env: NodeJS.ProcessEnv, more: readonly string[]): NodeJS.ProcessEnv =>
  withoutVariables(env, [...more, ...allowedSources(env).allowed.map(({ name }) => name)]);

/** Uids of the records that the change removes. */
export const removesOf = ({ writes }: Pick<Change, "writes">): string[] =>
  writes.flatMap(({ method, uid }) => (methodOf(method).verb === "delete" && typeof uid === "string" ? uid : []));

/** Runs `act` with the environment; the file goes with it. */
export const throughGate = async <T>(
  { services, removes }: Pick<RunFile, "services" | "removes">,
  { env, user }: { env: NodeJS.ProcessEnv; user?: ProgramUser | undefined },
  act: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "irm-apply-"));
  try {
    const file = writeRunFile(folder, { kind: "apply", pid: process.pid, services, removes });
    if (user) giveFolder(user, folder, [ELSEWHERE_FILE]);
    return await act({ ...env, [RUN]: file });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
