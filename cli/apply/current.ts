// The change, computed again on fresh copies of the services, as in a review. The preview of the program reads through a gate, since the
// credentials of an apply may write.
import type { Change } from "../../access/change/change.ts";
import type { CurrentChange } from "../../access/change/terms.ts";
import { type Copy, recordsIn } from "../../access/copy/copy.ts";
import type { Client } from "../../client/client.ts";
import type { RunOperation } from "../../pulumi/command.ts";
import { previewHere } from "../preview.ts";
import { runOnTwins } from "../run/on-twins.ts";
import { contentOf, originOfRun } from "../run/proposal.ts";
import type { ProgramUser } from "../run/user.ts";
import type { servicesFrom } from "../services.ts";
import { accessIn, replay } from "../twin/replay.ts";
import { currentChangeOf } from "../twin/sides.ts";
import { removesOf, type Services, startTokenedGate, throughGate } from "./gates.ts";

/** How the engine runs the program. */
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
  /** why the copy did not take it, a sentence each */
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
  const origin = originOfRun({ run, stack, clients });
  const content = contentOf({ run, origin, engine, operation, isWhole: true, created, expires });
  const failed = run.steps.flatMap(({ urn, op, error }) =>
    error === undefined ? [] : [`${op} ${urn} fails: ${error}`],
  );
  return { current: currentChangeOf(content, run), problems: [...failed, ...run.errors] };
};

/** Of a change without a program, what is left to do. Errors: those of a replay. */
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
  const { uids, encodeText } = run;
  const problems = run.outcomes.flatMap(({ n, message }) =>
    message === undefined ? [] : [`write ${n} fails: ${message}`],
  );
  const made = { services: run.services, normal: { uids, encodeText }, left: [] };
  return { current: currentChangeOf({ ...change, writes, ...accessIn(run) }, made), problems };
};
