// The change of a seal of which a run has done a part, as it was before that run: what the run has created is new again, and what it has
// changed or deleted is as it was. Whatever else has changed stays as it is now, and so differs from the seal.
import { parentOf } from "../../schema/index.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import type { Preview } from "../preview/shape.ts";
import { partsOfUrn } from "../preview/urn.ts";
import type { AdoptedRecord, Proposal } from "../review/proposal.ts";
import type { Report } from "../review/report.ts";
import { NODES, type RecordKind, wordOf } from "../run/kind.ts";
import { changeIn } from "./change.ts";
import { type Done, isBegun } from "./done.ts";
import { addEqual, isAsSealed, sinceReview } from "./equal.ts";
import { hasInputsOf } from "./inputs.ts";
import { type Sealing, sealOf } from "./make.ts";
import { resourcesIn } from "./resource.ts";
import { graphAfter, graphBefore } from "./rewound.ts";
import { graphFrom, isNew, recordsOf, type SealContent, type Step } from "./seal.ts";

/** What a seal of the whole change has now, to be compared with `seal`. `reportOf` reviews another proposal; `createdAt` is of the records now. */
export const contentFor = (
  seal: SealContent,
  sealing: Sealing,
  { createdAt, reportOf }: Pick<Live, "createdAt"> & { reportOf(proposal: Proposal): Report },
): SealContent => {
  const { preview, proposal } = sealing;
  const now = sealOf(sealing);
  const steps = new Map(now.steps.map((step) => [step.urn, step]));
  const made = madeBy(seal, steps, preview, { graph: proposal.before, isSince: sinceReview(seal, createdAt) });
  const done: Done = {
    idOf: (uid) => made.get(uid) ?? uid,
    deletes: new Set(seal.deletes),
    isGone: goneFrom(proposal.before, seal.steps, recordsOf(now.steps)),
  };
  const begun = new Set(seal.steps.filter((step) => isBegun(step, steps.get(step.urn), done)));
  const gone = seal.deletes.filter((one) => done.isGone(recordIn(one).kind, recordIn(one).uid));
  const change = changeIn(seal);
  const whole: Proposal = {
    ...proposal,
    before: graphBefore(proposal.before, change, done),
    after: graphAfter(proposal.after, change, done),
    adopted: adoptedBy(seal.owners, begun, proposal.adopted, made),
  };
  const content = sealOf({ ...sealing, proposal: whole, report: reportOf(whole) });
  // What the change has created may go again, as an invite whose code was lost.
  const isOwn = (one: string): boolean => made.has(recordIn(one).uid);
  return {
    ...content,
    steps: stepsOf(seal.steps, content.steps, done),
    deletes: [...new Set([...content.deletes.filter((one) => !isOwn(one)), ...gone])],
  };
};

/** By uid: the ids in the seal of the records that the change has created. */
const madeBy = (
  seal: SealContent,
  steps: ReadonlyMap<string, Step>,
  preview: Preview,
  live: Parameters<typeof addEqual>[2],
): Map<string, NodeId> => {
  const made = new Map<string, NodeId>();
  const existing = recordsOf(seal.steps);
  const { byUrn } = resourcesIn(preview);
  // Somebody may have given the resource a record that is older than the review.
  const wasThere = (uid: string): boolean =>
    Object.values(live.graph).some((nodes) => nodes.has(uid)) && !live.isSince(uid);
  const isOfChange = (uid: string | undefined): uid is string =>
    uid !== undefined && !existing.has(uid) && !wasThere(uid);
  for (const sealed of seal.steps) {
    const { urn, kind, uid } = sealed;
    if (!isNew(sealed) || uid !== undefined || kind === "roleBindingSet") continue;
    const step = steps.get(urn);
    // The preview says which record of a killed run it takes over.
    const own = [step?.uid, byUrn.get(urn)?.planned?.uid];
    for (const one of own) if (isOfChange(one)) made.set(one, urn);
  }
  // With the pairs of sets, and what a killed run has created and no preview shows.
  addEqual(made, seal, live);
  // A record whose secret was lost is replaced by one that is the same.
  const after = graphFrom(seal.after);
  const idOf = (uid: string): NodeId => made.get(uid) ?? uid;
  for (const sealed of seal.steps.filter(isNew)) {
    const replaced = steps.get(sealed.urn)?.replaced;
    if (isOfChange(replaced) && isAsSealed(sealed, replaced, { after, live: live.graph, idOf }))
      made.set(replaced, sealed.urn);
  }
  return made;
};

/** `present`: the records that the resources have now. */
const goneFrom = (live: AccessGraph, sealed: readonly Step[], present: ReadonlySet<string>): Done["isGone"] => {
  const removed = recordsOf(sealed.filter(({ op }) => op === "delete"));
  return (kind, uid) => {
    const nodes = NODES[kind as RecordKind];
    // Of other kinds, the review reads none: they went with their resource, or with their group.
    return nodes ? !live[nodes].has(uid) : !present.has(uid) && (removed.has(uid) || !live.groups.has(parentOf(uid)));
  };
};

/** Of `KIND UID`. */
const recordIn = (text: string): { kind: string; uid: string } => {
  const at = text.indexOf(" ");
  return { kind: text.slice(0, at), uid: text.slice(at + 1) };
};

/** A record that a killed run created is no adopted one, and one that the change has adopted is. */
const adoptedBy = (
  owners: SealContent["owners"],
  begun: Iterable<Step>,
  adopted: readonly AdoptedRecord[],
  made: ReadonlyMap<string, NodeId>,
): AdoptedRecord[] => {
  const open = adopted.filter(({ uid }) => !made.has(uid));
  const ended = [...begun].flatMap(({ kind, urn, uid }): AdoptedRecord[] => {
    if (uid === undefined || owners[uid] === undefined || open.some((one) => one.uid === uid)) return [];
    return [{ kind: wordOf(kind as RecordKind), uid, resource: partsOfUrn(urn).name, deletedLater: false }];
  });
  return [...open, ...ended];
};

const stepsOf = (sealed: readonly Step[], now: readonly Step[], done: Done): Step[] => {
  const byUrn = new Map(now.map((step) => [step.urn, step]));
  for (const step of sealed) {
    const own = byUrn.get(step.urn);
    const isOwn = own?.uid === step.uid || (own?.uid !== undefined && done.idOf(own.uid) === step.urn);
    const isSameOp = own?.op === step.op && isOwn && own.replaced === step.replaced;
    const isOf = isSameOp || isBegun(step, own, done);
    if (isOf && (own === undefined || hasInputsOf(step.inputs, own.inputs, done.idOf))) byUrn.set(step.urn, step);
  }
  return [...byUrn.values()];
};
