// The writes of a change on fresh copies of its services, for a review of it.
import { type Change, ChangeError } from "../../access/change/change.ts";
import type { Proposal } from "../../access/review/proposal.ts";
import type { RunActor } from "../../access/review/run-report.ts";
import { proposalFromRun } from "../../access/run/proposal.ts";
import type { Client } from "../../client/client.ts";
import { copyOf } from "../copy.ts";
import { untilInterrupted } from "../interrupt.ts";
import { type Replay, replay } from "../twin/replay.ts";
import { actorsOf } from "./actor.ts";

export interface Replayed {
  run: Replay;
  actor: RunActor;
  /** by address */
  proposals: Map<string, Proposal>;
}

/** Throws a ChangeError, and the errors of a copy and of the clients. */
export const replayHere = async (
  change: Change,
  file: string,
  clients: ReadonlyMap<string, Client>,
): Promise<Replayed> => {
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
