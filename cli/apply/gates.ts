// The gate of a run, with the tokens that it uses.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../../access/change/change.ts";
import { methodOf } from "../../access/change/methods.ts";
import type { Write } from "../../access/change/write.ts";
import type { Copy } from "../../access/copy/copy.ts";
import type { Client } from "../../client/client.ts";
import { allowedSources } from "../../client/credential-settings.ts";
import { ELSEWHERE_FILE, RUN, type RunFile, writeRunFile } from "../../client/run-file.ts";
import { type Gate, startGate } from "../../gate/index.ts";
import { type TokenClass, tokensFor } from "../../gate/tokens.ts";
import { loopbackClient } from "../client.ts";
import { withoutVariables } from "../run/place.ts";
import { giveFolder, type ProgramUser } from "../run/user.ts";
import { carryOut } from "../twin/replay.ts";

/** By address; the first one is that of the writes without a service. */
export type Services = ReadonlyMap<string, { client: Client; copy: Copy }>;

export interface TokenedGate extends Pick<Gate, "services" | "report" | "close"> {
  tokens(): TokenClass[];
  /** why tokens may do more than their writes need; empty: they do not */
  reasons(): string[];
}

/** Without writes, it passes only reads. `as`: uid of the identity that applies. Errors: those of an exchange, and GateError. */
export const startTokenedGate = async (
  services: Services,
  writes: readonly Write[],
  as: string,
): Promise<TokenedGate> => {
  const [first] = services.keys();
  let gate: Gate | undefined;
  const all = await Promise.all(
    [...services].map(async ([address, { client, copy }]) => {
      const own = writes.filter(({ service = first }) => service === address);
      const tokens = await tokensFor({ client, copy }, own, (n) => gate?.uids.get(n));
      return [address, { client, copy, tokens, readToken: tokens.read, writeToken: tokens.write }] as const;
    }),
  );
  gate = await startGate({ writes, services: new Map(all), as });
  const { services: gates, report, close } = gate;
  return {
    ...{ services: gates, report, close },
    tokens: () => all.flatMap(([, { tokens }]) => [...tokens.classes]),
    reasons: () => all.flatMap(([, { tokens }]) => [...tokens.reasons]),
  };
};

/** The writes of a change without a program, one after the other. The report of the gate says what has become of them. */
export const sendWrites = async (
  { services }: Pick<Gate, "services">,
  change: Pick<Change, "services">,
  writes: readonly Write[],
  signal: AbortSignal,
): Promise<void> => {
  const clients = new Map(services.map(({ address, url, token }) => [address, loopbackClient(url, token)]));
  const [first] = change.services as [string];
  await carryOut(writes, { first, clients, hidden: "" }, signal);
};

// The environment of a run that goes through the gate: without credentials of the services, and with a file that says where the gate is.

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
