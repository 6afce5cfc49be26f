// The seal of a preview that was reviewed: what the review shows, what the engine does with each resource, and what that rests on.
import { TAKEN_OVER, type TakenOver, takenOverIn } from "../../client/preview-marks.ts";
import { resources as descriptors, isUidp } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import type { AccessGraph } from "../graph/graph.ts";
import { type Preview, PreviewError, type Step as PreviewStep } from "../preview/shape.ts";
import { ourTypeOf, stackOfUrn } from "../preview/urn.ts";
import { valuesIn } from "../preview/value.ts";
import type { Proposal } from "../review/proposal.ts";
import type { Report } from "../review/report.ts";
import { NODES, type RecordKind } from "../run/kind.ts";
import { timeText } from "../time-text.ts";
import { sealedInputs } from "./inputs.ts";
import { ownedPlace, ownersAt } from "./owners.ts";
import { partsOf } from "./part.ts";
import { type Records, recordsIn } from "./records.ts";
import { type Resources, resourcesIn } from "./resource.ts";
import { isNew, partFrom, type SealContent, type Step, type SubjectRow } from "./seal.ts";

export interface Sealing {
  preview: Preview;
  proposal: Proposal;
  report: Report;
  services: readonly string[];
  /** how long the seal holds */
  days: number;
  nowMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Throws a PreviewError where the preview leaves resources out: a run could not tell them from those that it creates. */
export const sealOf = ({ preview, proposal, report, services, days, nowMs }: Sealing): SealContent => {
  if (!isWhole(preview))
    throw new PreviewError(
      "a seal needs a preview that shows every resource: make it with pulumi preview --json --show-sames --refresh",
    );
  const { before, after } = proposal;
  const resources = resourcesIn(preview);
  const adopted = new Set(proposal.adopted.map(({ uid }) => uid));
  const parts = partsOf(before, after, adopted);
  const { commit, isModified, stack = "" } = report.origin ?? {};
  const owners = proposal.adopted.map(({ kind, uid }) => [uid, ownersAt(before, ownedPlace(kind, uid))] as const);
  return {
    seal: 1,
    origin: {
      stack: stackOfUrn(preview.steps[0]?.urn) ?? stack,
      services: [...services].sort(),
      ...(commit !== undefined && { commit }),
      ...(isModified !== undefined && { isModified }),
      time: timeText(nowMs),
      expires: timeText(nowMs + days * DAY_MS),
    },
    rows: rowsIn(report),
    steps: stepsIn(preview, recordsIn(resources.byUrn, before), before),
    deletes: deletesIn(resources, proposal),
    blocked: [],
    unlisted: report.notVisible.flatMap(({ kind, group }) => (group === "" ? [kind] : [])).sort(),
    before: partFrom(parts.before),
    after: partFrom(parts.after),
    owners: Object.fromEntries(owners.sort(([a], [b]) => compare(a, b))),
  };
};

const rowsIn = ({ identities, people }: Report): SubjectRow[] => [
  ...identities.map(({ uid, name, groupName, gains, losses, before, after }) => ({
    ...{ uid, name, groupName, gains, losses },
    assumedBefore: before?.text ?? null,
    assumedAfter: after?.text ?? null,
  })),
  ...people.map(({ subject, uid, groupName, gains, losses, before, after }) => ({
    ...{ uid, name: subject, groupName, gains, losses },
    assumedBefore: before,
    assumedAfter: after,
  })),
];

const KINDS: ReadonlyMap<string, string> = new Map([
  ...Object.values(descriptors).map(({ type, field }) => [type, field] as const),
  ["RoleBindingSet", "roleBindingSet"] as const,
]);

const kindOf = ({ urn }: PreviewStep): string | undefined => KINDS.get(ourTypeOf(urn) ?? "");

/**
 * One for each resource of ours. The engine has several steps for one that it replaces. Which record a native resource takes over, only a
 * line says, which a program could print, too: a record that was there is none that the change creates.
 */
const stepsIn = (preview: Preview, records: Records, before: AccessGraph): Step[] => {
  const byUrn = new Map<string, Step>();
  const taken = new Map(
    preview.lines.flatMap(({ urn, text }) => {
      const uid = takenOverIn(text);
      return uid === undefined ? [] : [[urn, uid] as const];
    }),
  );
  const takenAs = (kind: string, urn: string): string | undefined => {
    const uid = taken.get(urn);
    const nodes = NODES[kind as RecordKind];
    return uid !== undefined && (nodes === undefined || before[nodes].has(uid)) ? uid : undefined;
  };
  for (const step of preview.steps) {
    const kind = kindOf(step);
    const op = OPS[step.op];
    if (kind === undefined || op === undefined) continue;
    const { urn, oldState, newState } = step;
    const known = byUrn.get(urn);
    const state = op === "delete" ? undefined : (newState ?? oldState);
    const inputs = state?.inputs ? sealedInputs(valuesIn(state.inputs), records) : known?.inputs;
    const uid = uidAfter(step) ?? (isNew({ op }) ? takenAs(kind, urn) : undefined) ?? known?.uid;
    const replaced = known?.replaced ?? (isNew({ op }) || op === "delete" ? oldState?.id : undefined);
    byUrn.set(urn, {
      ...{ urn, kind, op: opOf(op, known?.op) },
      ...(uid && { uid }),
      ...(replaced && { replaced }),
      ...(inputs && { inputs }),
    });
  }
  return [...byUrn.values()].sort((a, b) => compare(a.urn, b.urn));
};

/** Of a record that exists already, or that the run takes over; undefined of one that goes, or that the run creates. */
const uidAfter = ({ op, oldState, newState }: PreviewStep): string | null | undefined => {
  if (op.startsWith("import")) return newState?.id;
  if (OPS[op] === "delete") return undefined;
  if (OPS[op] !== "create" && OPS[op] !== "replace") return oldState?.id ?? newState?.id;
  const { adopt, [TAKEN_OVER]: taken } = valuesIn(newState?.inputs);
  const { uid, doubt } = (taken ?? {}) as Partial<TakenOver>;
  return [adopt, doubt === undefined && uid].find(isUidp);
};

const OPS: Readonly<Record<string, Step["op"]>> = {
  create: "create",
  import: "create",
  "create-replacement": "replace",
  "import-replacement": "replace",
  replace: "replace",
  update: "update",
  same: "same",
  read: "read",
  "read-replacement": "read",
  delete: "delete",
  "delete-replaced": "delete",
};

/** What the engine both deletes and creates, it replaces. What it deletes beside a record that stays, an interrupted run has left. */
const opOf = (op: Step["op"], known: Step["op"] | undefined): Step["op"] => {
  if (known === undefined || known === op) return op;
  const stays = [op, known].find((one) => ["same", "update", "read"].includes(one));
  if (stays && [op, known].includes("delete")) return stays;
  const isReplaced = [op, known].some((one) => one === "replace") || (op !== "delete") !== (known !== "delete");
  return isReplaced ? "replace" : op;
};

/** All records that the run may delete: those that are not there after the change, and those that its steps delete. */
const deletesIn = ({ byUrn, deletedElsewhere }: Resources, { before, after, forced }: Proposal): string[] => {
  const uids = new Set<string>();
  const note = (kind: string, uid: string | null): void => {
    if (uid !== null && isUidp(uid)) uids.add(`${kind} ${uid}`);
  };
  const noteWord = (word: string, uid: string): void => note(FIELD_OF_WORD.get(word) ?? word, uid);
  for (const [kind, nodes] of Object.entries(NODES))
    for (const { id, uid } of before[nodes].values()) if (!after[nodes].has(id)) note(kind, uid);
  for (const { held = [] } of forced) for (const { kind, uid } of held) noteWord(kind, uid);
  for (const { kind, deleted } of byUrn.values())
    for (const { uid, stays } of deleted) if (!stays && kind !== "roleBindingSet") note(kind, uid);
  for (const one of deletedElsewhere) {
    const at = one.lastIndexOf(" ");
    noteWord(one.slice(0, at), one.slice(at + 1));
  }
  return [...uids].sort(compare);
};

const FIELD_OF_WORD: ReadonlyMap<string, string> = new Map(
  Object.values(descriptors).map(({ word, field }) => [word, field]),
);

/** A preview shows each resource, and each of these steps. */
const SHOWN_OPS = ["same", "create", "update", "delete"];

const isWhole = ({ steps, summary }: Preview): boolean =>
  SHOWN_OPS.every((op) => steps.filter((step) => step.op === op).length >= (summary[op] ?? 0));
