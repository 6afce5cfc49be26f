// What the engine's state says of the open runs of a stack: whether it was saved after them, and what of their work it lacks. The state is
// saved whole: a record that such a run created is in it only if the run ended, or a later one has taken the record over.

import type { EngineState, StateResource } from "../../pulumi/state.ts";
import { SECRET, valuesIn } from "../../pulumi/value.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { kindOfField, kindOfToken, kindRecords } from "../kind/index.ts";
import { bindingsIn } from "../kind/pair.ts";
import type { Run, Write } from "../log/entries.ts";
import type { Entry } from "../log/entry.ts";
import { fingerprintOf } from "../record/desired.ts";
import { placeOf, recordId } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { withPlace } from "../record/state.ts";
import type { OpenRuns } from "../run/write-ahead.ts";

/**
 * `saved`: the state has what the run did. `lost`: certainly not, so what it created belongs to no resource. `unclear`: the state was
 * written since, and lacks some of it: perhaps a person has removed that from the state.
 */
export type Verdict = "saved" | "lost" | "unclear";

export type Findings = ReturnType<typeof findingsOf>;

/** `state` is undefined where it cannot be read: then nothing is saved, and nothing lost. */
export const findingsOf = (open: OpenRuns, state: EngineState | undefined) => {
  const records = recordsIn(state);
  const isInState = ({ kind, uid }: Entry) => uid !== undefined && records.has(recordId(kind, uid));
  const savedAt = state ? Date.parse(state.savedAt) : Number.NEGATIVE_INFINITY;
  const isShown = (write: Write) => showsWrite(records.get(recordId(write.kind, write.wrote)), write, savedAt);
  const verdictOf = (run: Run): Verdict => {
    if (run.judged) return run.judged;
    if (!state) return "unclear";
    const created = open.entries.filter((entry) => entry.run === run.began && entry.uid !== undefined);
    const isSaved = created.some(isInState);
    if (run.ending === undefined) return !isSaved ? "lost" : created.every(isInState) ? "saved" : "unclear";
    if (isSaved) return "saved";
    const writes = open.writes.filter((write) => write.run === run.began);
    return savedAt >= run.ending && created.length === 0 && writes.every(isShown) ? "saved" : "unclear";
  };
  const verdicts = new Map(open.runs.map((run) => [run, verdictOf(run)]));
  const byId = new Map([...verdicts].map(([{ began }, verdict]) => [began, verdict]));
  const isSettled = (write: Write): boolean => {
    const verdict = write.run === undefined ? undefined : byId.get(write.run);
    // What is not in the state is in no plan.
    if (verdict === "saved" || (state && !records.has(recordId(write.kind, write.wrote)))) return true;
    return verdict === "lost" ? false : isShown(write);
  };
  return {
    verdicts,
    /** creates of runs that are not saved, whose records the state lacks */
    leftovers: open.entries.filter((entry) => byId.get(entry.run as string) !== "saved" && !isInState(entry)),
    /** creates whose records the state has */
    stored: open.entries.filter(isInState),
    /** updates and deletes that the state does not show */
    touched: open.writes.filter((write) => !isSettled(write)),
    /** those that it shows */
    shown: open.writes.filter(isSettled),
    /** whether a resource of the state has the record of this id (`recordId`) */
    isStored: (id: string): boolean => records.has(id),
  };
};

/** By the id of the record: the resource that has it, as its state is known. */
type StoredRecords = ReadonlyMap<string, StateResource>;

const recordsIn = (state: EngineState | undefined): StoredRecords => {
  const records = new Map<string, StateResource>();
  for (const resource of state?.resources ?? []) {
    const { type, id, external, outputs } = resource;
    const kind = kindOfToken(type);
    if (kind && id && !external) records.set(recordId(kind.field, id), resource);
    else if (!kind && id)
      for (const { uid } of bindingsIn(outputs, "bindings"))
        if (isUidp(uid)) records.set(recordId(kindRecords.roleBinding.field, uid), resource);
  }
  return records;
};

/** Whether the state, saved at this time, has what the write did. */
const showsWrite = (
  resource: StateResource | undefined,
  { wrote, to, given = [], kind: field, clock }: Write,
  savedAt: number,
) => {
  if (to === undefined || !resource) return resource === undefined;
  const kind = kindOfField(field);
  // A later version wrote it.
  if (!kind) return false;
  // What is encrypted, or returned by no response, is compared by time alone.
  return savedAt >= clock && (containsSecret(resource.outputs) || printOf(kind, wrote, resource.outputs, given) === to);
};

const printOf = (kind: Kind, uid: string, outputs: Json, given: readonly string[]): string =>
  fingerprintOf(kind, placeOf(kind, uid), withPlace(kind, uid, outputs), given);

const containsSecret = (outputs: Json): boolean => JSON.stringify(valuesIn(outputs)).includes(JSON.stringify(SECRET));
