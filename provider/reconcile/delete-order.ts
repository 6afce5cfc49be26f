// Deletes a record that other records block. Where a program gives plain uids, the engine does not know the order of deletion. So a
// group waits here for its children, and a role for its bindings, as long as their number falls.
import { apiErrorOf, apiText } from "../../client/errors.ts";
import { listPage } from "../../client/paginate.ts";
import { type ApiError, isAncestor } from "../../schema/index.ts";
import { type Blockers, type Kind, title } from "../record/kind.ts";
import { perSession, type Session } from "../run/session.ts";

const STALL_TIMEOUT_MS = 10_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
const SHOWN = 20;

interface DeleteProgress {
  /** A record is deleted; `references` are the uids that it referred to. */
  finished(uid: string, references?: readonly string[]): void;
  /** How many deletes have finished below `uid`, or of records that referred to it. */
  countFor(uid: string): number;
  /** Resolves when the next one finishes. */
  next(): Promise<void>;
}

const deleteProgress = (): DeleteProgress => {
  const deleted: { uid: string; references: readonly string[] }[] = [];
  let waiting = Promise.withResolvers<void>();
  return {
    finished(uid, references = []) {
      deleted.push({ uid, references });
      const woken = waiting;
      waiting = Promise.withResolvers<void>();
      woken.resolve();
    },
    countFor: (uid) => deleted.filter((one) => isAncestor(uid, one.uid) || one.references.includes(uid)).length,
    next: () => waiting.promise,
  };
};

/** The deletes of this process. They wake those that wait for them: polling alone would be slow. */
export const deletesOf = perSession(deleteProgress);

interface Blocking {
  count: number;
  lines: string[];
  /** false when a list failed, so that the count means nothing */
  isComplete: boolean;
}

/**
 * `attempt` deletes the record, or returns the error of one that is still blocked. `force` deletes what blocks it, once, when this
 * run has nothing more to delete there.
 */
export const deleteWhenUnblocked = async (
  kind: Kind,
  session: Session,
  uid: string,
  attempt: () => Promise<ApiError | undefined>,
  force?: () => Promise<void>,
): Promise<void> => {
  let isForced = false;
  const { clock } = session;
  const deletes = deletesOf(session);
  let fewest = Infinity;
  let finished = deletes.countFor(uid);
  let lastProgress = clock.now();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    // Before the attempt, so that it also catches a delete that finishes during the attempt.
    const woken = deletes.next();
    const blocked = await attempt();
    if (blocked === undefined) return;
    const blocking = await listBlocking(kind, session, uid);
    const count = deletes.countFor(uid);
    if ((blocking.isComplete && blocking.count < fewest) || count > finished) lastProgress = clock.now();
    if (blocking.isComplete) fewest = Math.min(fewest, blocking.count);
    finished = count;
    const remaining = lastProgress + STALL_TIMEOUT_MS - clock.now();
    if (remaining <= 0) {
      if (!force || isForced) throw stillBlocked(kind, uid, blocked, blocking, !force);
      isForced = true;
      await force();
      continue;
    }
    await Promise.race([woken, clock.sleep(Math.min(wait, remaining))]);
  }
};

export const listBlocking = async (kind: Kind, session: Session, uid: string): Promise<Blocking> => {
  const parts = await Promise.all((kind.blockers?.(uid) ?? []).map((blockers) => listed(session, blockers)));
  return {
    count: parts.reduce((sum, part) => sum + part.count, 0),
    lines: parts.flatMap(({ lines }) => lines),
    isComplete: parts.every(({ isComplete }) => isComplete),
  };
};

const listed = async (session: Session, { request, word, ...list }: Blockers): Promise<Blocking> => {
  try {
    const { records, totalCount } = await listPage(session, list, { ...request, pageSize: SHOWN });
    const lines = records.map((record) => [word, record.uid, title(record)].filter(Boolean).join(" "));
    return { count: totalCount ?? records.length, lines, isComplete: true };
  } catch (error) {
    // A failed list must not hide why the delete failed.
    const cause = apiErrorOf(error);
    if (!cause) throw error;
    return { count: 0, lines: [`${list.plural}: could not be listed: ${apiText(cause)}`], isComplete: false };
  }
};

const stillBlocked = (kind: Kind, uid: string, error: ApiError, blocking: Blocking, mayForce: boolean): Error => {
  const head = `${error.operation} ${kind.word} ${uid}: ${apiText(error)}`;
  return new Error([head, ...blockingText(blocking, mayForce && kind.supportsForceDestroy === "below")].join("\n"));
};

const blockingText = ({ count, lines }: Blocking, mayForce: boolean): string[] => {
  const stalled = `No progress for ${STALL_TIMEOUT_MS / 1000} s`;
  if (lines.length === 0) return [`${stalled}, and the caller sees no record that blocks the deletion`];
  if (count === 0) return [[`${stalled}, and what blocks the deletion could not be listed:`, ...lines].join("\n  - ")];
  const shown = lines.slice(0, SHOWN);
  const more = count > shown.length ? [`and ${count - shown.length} more`] : [];
  const blocks = count === 1 ? "1 record blocks" : `${count} records block`;
  const force = mayForce ? " forceDestroy: true, once pulumi up has stored it, deletes it too." : "";
  return [
    [`${stalled}; ${blocks} the deletion:`, ...shown, ...more].join("\n  - "),
    `Delete what is listed, or declare it in this program, and run again.${force}`,
  ];
};
