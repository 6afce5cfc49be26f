// Deletes what open runs created and no resource has. Each record goes as soon as nothing blocks it; what others block is named.

import { apiText } from "../../client/errors.ts";
import type { Json } from "../../schema/index.ts";
import { listBlocking } from "../reconcile/blocking.ts";
import { attemptRemoval } from "../reconcile/delete.ts";
import { recordId } from "../record/id.ts";
import { KEY } from "../record/state.ts";
import { noteFailure } from "../recovery/create.ts";
import type { Session } from "../run/session.ts";
import { inDeletionOrder, type Leftover } from "./leftover.ts";

const AT_ONCE = 8;

export interface Removal {
  removed: Leftover[];
  /** with the reason */
  failed: { leftover: Leftover; reason: string }[];
}

/** Only what is certain is deleted: `leftovers` without a doubt. */
export const removeLeftovers = async (session: Session, leftovers: readonly Leftover[]): Promise<Removal> => {
  const removed: Leftover[] = [];
  let open = inDeletionOrder(leftovers.filter(({ record, doubt }) => record !== undefined && doubt === undefined));
  let failed: Removal["failed"] = [];
  for (let isProgress = true; isProgress && open.length > 0; ) {
    failed = [];
    for (const level of levelsOf(open))
      await inParallel(level, async (one) => {
        const reason = await removeOne(session, one);
        if (reason === undefined) removed.push(one);
        else failed.push({ leftover: one, reason });
      });
    isProgress = failed.length < open.length;
    open = failed.map(({ leftover }) => leftover);
  }
  return { removed, failed };
};

/** Records of one kind and depth do not block each other. */
const levelsOf = (leftovers: readonly Leftover[]): Leftover[][] => [
  ...Map.groupBy(leftovers, ({ kind, record }) => `${kind?.field} ${record?.uid.split("/").length}`).values(),
];

const inParallel = async <T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  const left = [...all];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
};

/** Returns why it is still there. */
const removeOne = async (session: Session, { entry, kind, record }: Leftover): Promise<string | undefined> => {
  if (!kind || !record) return "it is not known";
  const { uid } = record;
  if (!session.ownership.release(recordId(kind.field, uid), entry.key)) return "a resource has taken it over";
  try {
    const blocked = await attemptRemoval(kind, session, uid, { ...(record as Json), [KEY]: entry.key });
    if (blocked) {
      const { lines } = await listBlocking(kind, session, uid);
      return [apiText(blocked), ...lines].join("; ");
    }
  } catch (error) {
    return (error as Error).message;
  }
  // The journal has no create of a lost machine.
  if (entry.run !== undefined) await noteFailure(session, entry);
  return undefined;
};
