// What a run on twins means at each of its services: the proposal that a review is of.

import { type Change, type ChangeContent, ChangeError } from "../../access/change/change.ts";
import type { Proposal, UnknownPart } from "../../access/review/proposal.ts";
import type { Origin, RunActor } from "../../access/review/report.ts";
import { unknownOf } from "../../access/run/not-run.ts";
import { proposalFromRun } from "../../access/run/proposal.ts";
import { restoredWrites } from "../../access/run/restored.ts";
import { bindingsOf, managedIn } from "../../access/run/stack.ts";
import type { Client } from "../../client/client.ts";
import type { RunOperation } from "../../pulumi/command.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { stackOfUrn } from "../../pulumi/urn.ts";
import { isUidp, printable, UserError } from "../../schema/index.ts";
import { copyOf } from "../copy.ts";
import { untilInterrupted } from "../interrupt.ts";
import type { Previewed } from "../preview.ts";
import { firstOf, originOf } from "../services.ts";
import { type Replay, replay } from "../twin/replay.ts";
import { accessOfChange } from "../twin/sides.ts";
import { UsageError } from "../usage.ts";
import { actorsOf } from "./actor.ts";
import type { UpdateRun } from "./on-twins.ts";

/** By address. A resource counts at its own service alone. */
export const proposalsOf = (run: UpdateRun, { preview, hereAt }: Previewed): Map<string, Proposal> => {
  const all = { stored: managedIn(run.stored), left: managedIn(run.left) };
  const undone = new Set(run.notRun.flatMap(({ urn, op }) => (op.includes("delete") ? [urn] : [])));
  const ending = new Set(all.left.flatMap((one) => (undone.has(one.urn) ? bindingsOf(one).map(({ id }) => id) : [])));
  return new Map(
    run.services.map(({ address, before, after }) => {
      const unknown = [
        ...limitsOf(preview),
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

/** What the engine has printed and this version cannot read, and what the provider does not know. */
const limitsOf = ({ unreadable, doubts }: Preview): UnknownPart[] => [
  ...unreadable.map(
    (text): UnknownPart => ({
      subject: "",
      message: `a step of the preview cannot be read: ${text}`,
      hides: { of: "anything" },
    }),
  ),
  ...doubts.map((message): UnknownPart => ({ subject: "", message: printable(message) })),
];

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

// What the file of a change has of a run on twins.

interface Run {
  run: Pick<UpdateRun, "stored" | "left">;
  /** as the user named it */
  stack: string | undefined;
  /** by address */
  clients: ReadonlyMap<string, Client>;
}

/** Of the program of this folder. */
export const originOfRun = ({ run: { left, stored }, stack, clients }: Run): Origin =>
  originOf({
    stack: stackOfUrn([...left, ...stored][0]?.urn) ?? stack,
    service: [...clients.keys()].join(", "),
    folder: process.cwd(),
    nowMs: firstOf(clients).clock.today(),
  });

interface ContentParts {
  run: UpdateRun;
  origin: Origin;
  engine: readonly string[];
  operation: RunOperation;
  /** not of a policy alone, beside which the change edits other files */
  isWhole: boolean;
  created: string;
  expires: string;
}

/** A program whose folder differs from its commit has none in the change. */
export const contentOf = ({ run, origin, engine, operation, isWhole, ...life }: ContentParts): ChangeContent => ({
  ...{ version: 1, operation, arguments: [...engine], stack: origin.stack ?? "" },
  // The first one is that of the identity which applies it: its writes name no service.
  services: run.services.map(({ address }) => address),
  ...(origin.commit !== undefined && !origin.isModified && isWhole && { commit: origin.commit }),
  ...{ ...life, as: run.as.uid ?? "", writes: run.normal.writes },
  ...accessOfChange(run.services, run.normal),
  restored: restoredWrites(run.services, run),
});

// The writes of a change on fresh copies of its services, for a review of it.

interface Replayed {
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
