// The proposal of a run on twins at each of its services, for a review.

import { type Change, type ChangeContent, ChangeError, lifeFrom } from "../../access/change/change.ts";
import type { Write } from "../../access/change/write.ts";
import { whoAmI } from "../../access/query/whoami.ts";
import type { Proposal, UnknownPart } from "../../access/review/proposal.ts";
import type { Origin, RunActor } from "../../access/review/report.ts";
import { unknownOf } from "../../access/run/not-run.ts";
import { proposalFromRun } from "../../access/run/proposal.ts";
import { restoredWrites } from "../../access/run/restored.ts";
import { bindingsOf, managedIn } from "../../access/run/stack.ts";
import type { Client } from "../../client/client.ts";
import { serviceOf } from "../../client/config.ts";
import type { RunOperation } from "../../pulumi/command.ts";
import { stackOfUrn } from "../../pulumi/urn.ts";
import { isUidp, printable, UserError } from "../../schema/index.ts";
import { systemConfig } from "../client.ts";
import { copyOf } from "../copy.ts";
import { UsageError } from "../irm-command.ts";
import { firstOf, originOf, type Previewed } from "../services.ts";
import { untilInterrupted } from "../terminal.ts";
import { accessIn, type Replay, replay } from "../twin/replay.ts";
import { accessOfChange } from "../twin/sides.ts";
import { actorsOf } from "./actor.ts";
import type { UpdateRun } from "./on-twins.ts";

/** By address. A resource counts at its own service alone. */
export const proposalsOf = (run: UpdateRun, { preview, hereAt }: Previewed): Map<string, Proposal> => {
  const all = { stored: managedIn(run.stored), left: managedIn(run.left) };
  const undone = new Set(run.notRun.flatMap(({ urn, op }) => (op.includes("delete") ? [urn] : [])));
  const ending = new Set(all.left.flatMap((one) => (undone.has(one.urn) ? bindingsOf(one).map(({ id }) => id) : [])));
  return new Map(
    run.services.map(({ address, before, after }) => {
      const unknown: UnknownPart[] = [
        // This version cannot read some steps that the engine has printed.
        ...preview.unreadable.map((text) => ({
          subject: "",
          message: `a step of the preview cannot be read: ${text}`,
          hides: { of: "anything" as const },
        })),
        ...preview.doubts.map((message) => ({ subject: "", message: printable(message) })),
        ...run.notRun.flatMap((one) => unknownOf(one, preview.steps, after.graph)),
      ];
      const isHere = hereAt(address);
      const [stored, left] = [all.stored, all.left].map((own) => own.filter(({ urn }) => isHere(urn))) as [Own, Own];
      const graphs = { before: before.graph, after: after.graph, ending };
      const facts = { ...graphs, stored, left, held: before.held, isSecret: run.isSecret, unknown };
      return [address, proposalFromRun(facts)];
    }),
  );
};

type Own = ReturnType<typeof managedIn>;

// The run of the program of a folder on twins: its flags, and its end.

/** Throws UsageError. */
export const checkActor = (as: string | undefined): void => {
  if (as !== undefined && !isUidp(as)) throw new UsageError(`--as: ${JSON.stringify(as)} is not a uid`);
};

/** A preview and its run, which ^C ends. */
export const untilStopped = <T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const reason = new UserError("it was interrupted; nothing was changed, and nothing is left of the review");
  return untilInterrupted(reason, act, "ending the run on a copy");
};

// The content of a change's file, from a run on twins.

/** Of the program of this folder. `stack`: as the user named it. */
export const originOfRun = (
  { left, stored }: Pick<UpdateRun, "stored" | "left">,
  stack: string | undefined,
  clients: ReadonlyMap<string, Client>,
): Origin =>
  originOf(
    stackOfUrn([...left, ...stored][0]?.urn) ?? stack,
    [...clients.keys()].join(", "),
    firstOf(clients).clock.today(),
  );

/**
 * A program whose folder differs from its commit has none in the change. `isWhole`: not of a policy alone, beside which the change edits
 * other files.
 */
export const contentOf = ({
  run,
  origin,
  engine,
  operation,
  isWhole,
  ...life
}: {
  run: UpdateRun;
  origin: Origin;
  engine: readonly string[];
  operation: RunOperation;
  isWhole: boolean;
  created: string;
  expires: string;
}): ChangeContent => ({
  ...{ version: 1, operation, arguments: [...engine], stack: origin.stack ?? "" },
  // The first service is that of the identity which applies the change: its writes omit the service.
  services: run.services.map(({ address }) => address),
  ...(origin.commit !== undefined && !origin.isModified && isWhole && { commit: origin.commit }),
  ...{ ...life, as: run.as.uid ?? "", writes: run.normal.writes },
  ...accessOfChange(run.services, run.normal),
  restored: restoredWrites(run.services, run),
});

/**
 * Reviews a change: carries its writes out on fresh copies of its services. The proposals are by address. Throws a ChangeError, and the
 * errors of a copy and of the clients.
 */
export const replayHere = async (
  change: Change,
  file: string,
  clients: ReadonlyMap<string, Client>,
): Promise<{ run: Replay; actor: RunActor; proposals: Map<string, Proposal> }> => {
  const originals = [];
  for (const [address, client] of clients) originals.push({ address, client, copy: await copyOf(client, address) });
  const rights = "operator" as const;
  const acting = await actorsOf(originals, { as: change.as, source: `${file}: as`, rights });
  const copies = new Map(acting.map(({ address, copy }) => [address, copy]));
  const actors = new Map(acting.map(({ address, actor }) => [address, actor.uid]));
  const reason = new ChangeError("it was interrupted; nothing was changed");
  const run = await untilInterrupted(reason, (signal) => replay({ change, copies, actors }, signal), "ending the copy");
  const proposals = run.services.map(({ address, before, after }): [string, Proposal] => [
    address,
    {
      ...proposalFromRun({
        ...{ before: before.graph, after: after.graph, held: before.held },
        ...{ stored: [], left: [], unknown: [], ending: new Set(), isSecret: () => false },
      }),
      // The state of the stack is not in a change, so each binding may be declared.
      undeclared: [],
    },
  ]);
  const [first] = acting;
  return { run, actor: { uid: change.as, name: first?.actor.name ?? null, rights }, proposals: new Map(proposals) };
};

/** A change without a program: the writes of a command, carried out on a copy. Errors: ChangeError, and those of a copy. */
export const changeWithout = async (client: Client, writes: readonly Write[]): Promise<ChangeContent> => {
  const address = serviceOf(systemConfig().baseUrl);
  const { identity: as } = await whoAmI(client);
  if (as === null) throw new ChangeError("your identity is not known, and a change has its uid");
  const services = [address];
  const copies = new Map([[address, await copyOf(client, address)]]);
  const run = await replay({ change: { services, writes: [...writes] }, copies, actors: new Map([[address, as]]) });
  const [failed] = run.outcomes.filter(({ ok }) => !ok);
  if (failed) throw new ChangeError(`write ${failed.n} cannot be carried out: ${failed.message}`);
  return {
    ...{ version: 1, operation: "revoke", arguments: [], stack: "", services, as },
    ...{ ...lifeFrom(await client.serviceNow()), writes: [...writes], ...accessIn(run), restored: [] },
  };
};
