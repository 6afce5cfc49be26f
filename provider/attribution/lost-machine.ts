// Leftovers of a killed run whose machine is lost with its journal: the engine's state lists the operations that it had begun
// (docs/internals/faults.md#f26). The records that it was changing are compared like those of an open stack. A record that it created, and that no
// resource adopts, is named. It is deleted before the run deletes anything else: it may block that deletion.

import { openStackText } from "../../client/preview-marks.ts";
import { listChildren } from "../../client/records.ts";
import { bulleted } from "../../schema/index.ts";
import { kindOfToken } from "../kind/index.ts";
import type { Write } from "../log/entry.ts";
import { createTimeOf, isMatch, recordId, recordLine } from "../record/id.ts";
import { withArticle } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import { hiddenMsOfOperation, type Interrupted, interruptedCreates, searchOf } from "../recovery/evidence.ts";
import { type Operation, stackOperations } from "../recovery/pending-operations.ts";
import { isSince } from "../recovery/search.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import { stackOf } from "../run/journal.ts";
import type { Session } from "../run/session.ts";
import { type About, awaitLeftovers, findLeftovers, type Leftover, removeLeftovers, unreadable } from "./leftover.ts";
import { liveRecords } from "./live.ts";
import type { Look, OpenStack } from "./stack.ts";

/**
 * Looks only on a machine whose journal lacks runs of the stack. Otherwise the journal lists their leftovers, and asking the engine takes
 * up to half a second.
 */
export const findLostMachine = async (session: Session, { key, isPreview = false }: Look) => {
  const { open } = await stackOperations(session, key);
  if (open.length === 0) return { stack: undefined, messages: [] };
  const changes = open.filter(({ action }) => action !== "creating");
  const about = await aboutStack(session, key);
  const found = await findLeftovers(session, await leftIn(session, key), about);
  const messages = textsOf(found.leftovers);
  // It was only creating records.
  if (changes.length === 0) return { stack: undefined, messages };
  if (!isPreview) await waitForChanges(session, changes);
  const name = stackOf(key);
  const resources = changes.length === 1 ? "a resource" : `${changes.length} resources`;
  const head = `a run was killed while it was changing ${resources}, and there is no journal of it here. Each resource is compared with its live record.`;
  const stack: OpenStack = {
    ...{ name, runs: [], isOfState: true, about },
    leftovers: found.leftovers.filter(({ record }) => record !== undefined),
    touched: new Map(
      changes.flatMap(({ key, type, id, action, stamp }) => {
        const kind = kindOfToken(type);
        if (!kind || id === undefined) return [];
        const write: Write = { wrote: id, key, kind: kind.field, at: stamp.at, clock: stamp.startedAt };
        return [[recordId(kind.field, id), action === "deleting" ? write : { ...write, to: "" }] as const];
      }),
    ),
    live: liveRecords(session, await session.engineState(name)),
  };
  return { stack, messages: [openStackText(name, head), ...messages] };
};

/**
 * Deletes the leftovers that no resource has adopted, as the engine would. By the first deletion of a run, all its creates have ended.
 * Returns notices for the reader.
 */
export const removeLost = async (session: Session, key: string): Promise<string[]> => {
  const left = await leftIn(session, key);
  const leftovers = await awaitLost(
    session,
    key,
    left.filter(({ operation }) => operation.updatesSince === 0 && !operation.isKept),
  );
  const { removed, failed } = await removeLeftovers(session, leftovers);
  const lineOf = ({ entry, kind, record }: Leftover) =>
    `${entry.key}: a killed run created ${kind && record ? recordLine(kind, record) : "it"}`;
  return [
    ...textsOf(leftovers.filter(({ doubt }) => doubt !== undefined)),
    ...removed.map((one) => `${lineOf(one)}, and no resource of the stack has it: it is deleted`),
    ...failed.map(({ leftover, reason }) => `${lineOf(leftover)}, and it cannot be deleted: ${reason}`),
  ];
};

/**
 * Records that killed runs created on lost machines, and that the state lacks, for a person who decides. A record is certain until a second
 * update has succeeded: the first one did not declare its resource. Waits until no request of these runs can arrive any more.
 */
export const findLost = async (session: Session, key: string): Promise<Leftover[]> => {
  const left = await leftIn(session, key);
  const leftovers = await awaitLost(session, key, left);
  const missing = left.filter(({ entry }) => !leftovers.some((one) => one.entry.intent === entry.intent));
  const changed = await Promise.all(missing.map((one) => changedSince(session, one)));
  // A record that certainly belongs to one create may have the name that another create sent.
  const doubted = leftovers.map((one): Leftover => {
    const { isKept = false, updatesSince = 0 } = one.operation ?? {};
    if (isKept) return { doubt: "the program of that run had protect or retainOnDelete on it", ...one };
    if (updatesSince <= 1) return one;
    const doubt = `${updatesSince} updates have succeeded since, and a person may have taken it out of the stack`;
    return { doubt, ...one };
  });
  return distinct([...changed.flat(), ...doubted]);
};

/** Creates of records, and of pairs of sets, that the journal of this machine does not list. */
const leftIn = async (session: Session, key: string) => {
  const all = await interruptedCreates(session, key);
  const known = await Promise.all(all.map(({ desired }) => session.journal.peekUnsettled(desired.key)));
  return all.filter((_, i) => known[i]?.length === 0);
};

/** Once no request of the killed runs can arrive any more. */
const awaitLost = async (session: Session, key: string, left: readonly Interrupted[]) => {
  const about = await aboutStack(session, key);
  const { leftovers } = await findLeftovers(session, left, about);
  return distinct(await awaitLeftovers(session, leftovers, about));
};

/** Two killed runs may have begun the same create. */
const distinct = (leftovers: readonly Leftover[]) => [
  ...new Map(leftovers.map((one) => [one.record?.uid ?? one, one])).values(),
];

const aboutStack = async (session: Session, key: string): Promise<About> => {
  const { inState } = await stackOperations(session, key);
  return { changed: new Map(), isStored: (id) => inState.has(id) || session.ownership.isHeld(id) };
};

/** The texts about the records that the creates may have produced. */
const textsOf = (leftovers: readonly Leftover[]): string[] => {
  const shown = leftovers.filter(({ hiddenMs }) => hiddenMs === undefined);
  const byCreate = Map.groupBy(shown, ({ entry }) => entry.intent);
  return [...byCreate.values()].map((found) => {
    const [{ operation, entry, kind, record, doubt }] = found as [Leftover];
    const head = `${operation?.key}: a run was killed while it created ${withArticle(kind?.word ?? entry.kind)} for it`;
    if (!record) return `${head}: ${doubt}`;
    const lines = found.flatMap((one) => (one.kind && one.record ? recordLine(one.kind, one.record) : []));
    return `${bulleted(`${head}, which may be:`, ...lines)}\n${ADVICE}`;
  });
};

const ADVICE =
  "An update that declares the resource adopts it. One that does not, and deletes something, deletes it too, as pulumi destroy does. " +
  "After any other update, npx pulumi-irm recover lists and deletes it.";

/** Records from the time of the killed run that have the parent and the name that were sent, but now have other fields. */
const changedSince = async (session: Session, sent: Interrupted): Promise<Leftover[]> => {
  const { desired, entry } = sent;
  const { kind, args } = desired;
  const { isStored } = await aboutStack(session, entry.key);
  const { notAfter = Infinity } = searchOf(session, sent);
  const found: Leftover[] = [];
  try {
    for await (const record of listChildren(session, kind.list, entry.parent, kind.filters(args))) {
      const isLater = Date.parse(createTimeOf(record)) > notAfter;
      if (isLater || !isSince(entry, record) || isStored(recordId(kind.field, record.uid))) continue;
      if (isMatch(kind, observe(kind, record), args)) found.push({ ...sent, kind, record, ...CHANGED });
    }
  } catch (error) {
    return [{ ...sent, kind, ...unreadable(error) }];
  }
  return found;
};

const CHANGED: Pick<Leftover, "doubt"> = {
  doubt: "it is not as that run sent it: it was changed since, or somebody else created it",
};

/** Until no request of the killed run can arrive any more. */
const waitForChanges = async (session: Session, changes: readonly Operation[]) => {
  const [first] = changes;
  const waitMs = Math.max(0, ...(await Promise.all(changes.map((one) => hiddenMsOfOperation(session, one)))));
  if (first && waitMs > 0) await withRecoveryWait(session, first.key, (patient) => patient.clock.sleep(waitMs));
};
