// The gate of a run with its tokens, and the change, computed again before that run.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../../access/change/change.ts";
import { methodOf } from "../../access/change/methods.ts";
import type { CurrentChange } from "../../access/change/terms.ts";
import type { Write } from "../../access/change/write.ts";
import { type Copy, recordsIn } from "../../access/copy/copy.ts";
import type { Client } from "../../client/client.ts";
import { allowedSources } from "../../client/credential-settings.ts";
import { ELSEWHERE_FILE, RUN, type RunFile, writeRunFile } from "../../client/run-file.ts";
import { type Gate, startGate } from "../../gate/index.ts";
import { tokensFor } from "../../gate/tokens.ts";
import type { RunOperation } from "../../pulumi/command.ts";
import { loopbackClient } from "../client.ts";
import { runOnTwins } from "../run/on-twins.ts";
import { withoutVariables } from "../run/place.ts";
import { contentOf, originOfRun } from "../run/proposal.ts";
import { giveFolder, type ProgramUser } from "../run/user.ts";
import { previewHere, type servicesFrom } from "../services.ts";
import { accessIn, carryOut, replay } from "../twin/replay.ts";
import { currentChangeOf } from "../twin/sides.ts";

/** By address; the first one is that of the writes without a service. */
export type Services = ReadonlyMap<string, { client: Client; copy: Copy }>;

export type TokenedGate = Awaited<ReturnType<typeof startTokenedGate>>;

/** Without writes, it passes only reads. `as`: uid of the identity that applies. Errors: those of an exchange, and GateError. */
export const startTokenedGate = async (services: Services, writes: readonly Write[], as: string) => {
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
    tokens: () => all.flatMap(([, { tokens }]) => tokens.classes),
    /** the grounds for tokens that may do more than their writes need */
    reasons: () => all.flatMap(([, { tokens }]) => tokens.reasons),
  };
};

/** Sends the writes of a change without a program, one after the other. The report of the gate has their outcomes. */
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

// The change, computed again on fresh copies of the services, as in a review. The preview of the program reads through a gate, since the
// credentials of an apply may write.

export interface Job {
  cwd: string;
  /** without credentials of the services */
  env: NodeJS.ProcessEnv;
  /** as the engine takes it */
  stack: string;
  user?: ProgramUser | undefined;
}

export interface Recomputed {
  current: CurrentChange;
  /** why the copy refused parts of it, a sentence each */
  problems: string[];
}

/** Errors: those of a review. */
export const runAgain = async (
  change: Change,
  operation: RunOperation,
  job: Job,
  services: Services,
  settings: ReturnType<typeof servicesFrom>,
  signal: AbortSignal,
): Promise<Recomputed> => {
  const { arguments: engine, as, created, expires } = change;
  const { cwd, env, stack, user } = job;
  const reader = await startTokenedGate(services, [], as);
  const removes = removesOf(change);
  const { preview } = await throughGate({ services: reader.services, removes }, job, (own) =>
    previewHere({ cwd, stack, services: settings }, { operation, more: engine, env: own, signal, user }),
  ).finally(() => reader.close());
  const clients = new Map([...services].map(([address, { client }]) => [address, client]));
  const program = { operation, cwd, env, stack, user, arguments: engine, preview, clients, as, removes };
  const copyOf = async (_: Client, address: string) => (services.get(address) as { copy: Copy }).copy;
  const run = await runOnTwins({ ...program, copyOf }, signal);
  const origin = originOfRun(run, stack, clients);
  const content = contentOf({ run, origin, engine, operation, isWhole: true, created, expires });
  const failed = run.steps.flatMap(({ urn, op, error }) =>
    error === undefined ? [] : [`${op} ${urn} fails: ${error}`],
  );
  return { current: currentChangeOf(content, run), problems: [...failed, ...run.errors] };
};

/** The rest of a change without a program. Errors: those of a replay. */
export const replayAgain = async (
  { digest: _, ...change }: Change,
  services: Services,
  signal: AbortSignal,
): Promise<Recomputed> => {
  const copies = new Map([...services].map(([address, { copy }]) => [address, copy]));
  const present = new Set([...copies.values()].flatMap((copy) => recordsIn(copy).map(([, { uid }]) => uid)));
  const writes = change.writes
    .filter(({ uid }) => typeof uid !== "string" || present.has(uid))
    .map((write, i) => ({ ...write, n: i + 1 }));
  const actors = new Map([...copies.keys()].map((address) => [address, change.as]));
  const run = await replay({ change: { ...change, writes }, copies, actors }, signal);
  const problems = run.outcomes.flatMap(({ n, message }) =>
    message === undefined ? [] : [`write ${n} fails: ${message}`],
  );
  const made = { services: run.services, normal: run, left: [] };
  return { current: currentChangeOf({ ...change, writes, ...accessIn(run) }, made), problems };
};
