// What a run on twins means at each of its services: the proposal that a review is of.

import type { Proposal, UnknownPart } from "../../access/review/proposal.ts";
import { unknownOf } from "../../access/run/not-run.ts";
import { proposalFromRun } from "../../access/run/proposal.ts";
import { bindingsOf, managedIn } from "../../access/run/stack.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { printable } from "../../schema/index.ts";
import type { Previewed } from "../preview.ts";
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
