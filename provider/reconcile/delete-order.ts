// Deletes a record that others still hold. The engine knows no order where a program wrote plain uids. So a group waits here for
// its children, and a role for its bindings, as long as their number falls.
import { apiErrorOf, apiText } from "../../client/errors.ts";
import { listPage } from "../../client/paginate.ts";
import { type ApiError, isAncestor } from "../../schema/index.ts";
import { type Blockers, type Kind, title } from "../kind/kind.ts";
import { perSession, type Session } from "../session/session.ts";

const STALL_TIMEOUT_MS = 10_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
const SHOWN = 20;

interface DeleteProgress {
  /** a record is gone; `references` are uids that it referred to */
  finished(uid: string, references?: readonly string[]): void;
  /** how many deletes have finished below `uid`, or of records that referred to it */
  countFor(uid: string): number;
  /** resolves when the next one finishes */
  next(): Promise<void>;
}

const deleteProgress = (): DeleteProgress => {
  const gone: { uid: string; references: readonly string[] }[] = [];
  let waiting = Promise.withResolvers<void>();
  return {
    finished(uid, references = []) {
      gone.push({ uid, references });
      const woken = waiting;
      waiting = Promise.withResolvers<void>();
      woken.resolve();
    },
    countFor: (uid) => gone.filter((one) => isAncestor(uid, one.uid) || one.references.includes(uid)).length,
    next: () => waiting.promise,
  };
};

/** The deletes of this process, reported to those that wait for them: polling alone would notice late. */
export const deletesOf = perSession(deleteProgress);

interface Left {
  count: number;
  lines: string[];
  /** false when a list failed, so that the count says nothing */
  whole: boolean;
}

/**
 * `attempt` deletes the record, or gives the error of a record that is not free yet; `force` deletes what holds it, once,
 * when this run has nothing more to delete there.
 */
export const deleteWhenFree = async (
  kind: Kind,
  session: Session,
  uid: string,
  attempt: () => Promise<ApiError | undefined>,
  force?: () => Promise<void>,
): Promise<void> => {
  let forced = false;
  const { clock } = session;
  const deletes = deletesOf(session);
  let fewest = Infinity;
  let finished = deletes.countFor(uid);
  let lastProgress = clock.now();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    // Asked for before the attempt: a delete that finishes during it must not be missed.
    const woken = deletes.next();
    const blocked = await attempt();
    if (blocked === undefined) return;
    const left = await leftBelow(kind, session, uid);
    const count = deletes.countFor(uid);
    if ((left.whole && left.count < fewest) || count > finished) lastProgress = clock.now();
    if (left.whole) fewest = Math.min(fewest, left.count);
    finished = count;
    const remaining = lastProgress + STALL_TIMEOUT_MS - clock.now();
    if (remaining <= 0) {
      if (!force || forced) throw stuck(kind, uid, blocked, left);
      forced = true;
      await force();
      continue;
    }
    await Promise.race([woken, clock.sleep(Math.min(wait, remaining))]);
  }
};

export const leftBelow = async (kind: Kind, session: Session, uid: string): Promise<Left> => {
  const parts = await Promise.all((kind.blockers?.(uid) ?? []).map((blockers) => listed(session, blockers)));
  return {
    count: parts.reduce((sum, part) => sum + part.count, 0),
    lines: parts.flatMap(({ lines }) => lines),
    whole: parts.every(({ whole }) => whole),
  };
};

const listed = async (session: Session, { request, word, ...list }: Blockers): Promise<Left> => {
  try {
    const { records, totalCount } = await listPage(session, list, { ...request, pageSize: SHOWN });
    const lines = records.map((record) => [word, record.uid, title(record)].filter(Boolean).join(" "));
    return { count: totalCount ?? records.length, lines, whole: true };
  } catch (error) {
    // A failed list must not hide why the delete failed.
    const cause = apiErrorOf(error);
    if (!cause) throw error;
    return { count: 0, lines: [`${list.plural}: could not be listed: ${apiText(cause)}`], whole: false };
  }
};

const stuck = (kind: Kind, uid: string, blocked: ApiError, { count, lines }: Left): Error => {
  const shown = lines.slice(0, SHOWN);
  const more = count > shown.length ? [`and ${count - shown.length} more`] : [];
  const head = `${blocked.operation} ${kind.word} ${uid}: ${apiText(blocked)}`;
  const text = `${STALL_TIMEOUT_MS / 1000} seconds without progress; ${count} left that hold${count === 1 ? "s" : ""} it:`;
  return new Error([head, [text, ...shown, ...more].join("\n  - ")].join("\n"));
};
