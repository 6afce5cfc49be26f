// What blocks the deletion of a record: what is in it, and what refers to it.
import { apiErrorOf, apiText } from "../../client/errors.ts";
import { listPage } from "../../client/paginate.ts";
import { withSection } from "../../client/recovery.ts";
import type { ApiError } from "../../schema/index.ts";
import { type Blockers, type Kind, recordText } from "../record/kind.ts";
import type { Session } from "../run/session.ts";

/** How long a delete waits without progress of other deletes of this run. */
const STALL_TIMEOUT_MS = 10_000;
/** A twin answers each of them within milliseconds. */
const STALL_ON_TWIN_MS = 2_000;

export const stallTimeoutMs = ({ isOnTwin }: Pick<Session, "isOnTwin">): number =>
  isOnTwin ? STALL_ON_TWIN_MS : STALL_TIMEOUT_MS;
const SHOWN = 20;

interface Blocking {
  count: number;
  lines: string[];
  /** false when a list failed, so that the count means nothing */
  isComplete: boolean;
}

export const listBlocking = async (kind: Kind, session: Session, uid: string): Promise<Blocking> => {
  const parts = await Promise.all((kind.blockers?.(uid) ?? []).map((blockers) => listBlockers(session, blockers)));
  return {
    count: parts.reduce((sum, part) => sum + part.count, 0),
    lines: parts.flatMap(({ lines }) => lines),
    isComplete: parts.every(({ isComplete }) => isComplete),
  };
};

const listBlockers = async (session: Session, { request, word, ...list }: Blockers): Promise<Blocking> => {
  try {
    const { records, totalCount } = await listPage(session, list, { ...request, pageSize: SHOWN });
    const lines = records.map((record) => recordText({ word }, record));
    return { count: totalCount ?? records.length, lines, isComplete: true };
  } catch (error) {
    // A failed list must not hide why the delete failed.
    const cause = apiErrorOf(error);
    if (!cause) throw error;
    return { count: 0, lines: [`${list.plural}: could not be listed: ${apiText(cause)}`], isComplete: false };
  }
};

export const stillBlocked = (
  kind: Kind,
  uid: string,
  error: ApiError,
  blocking: Blocking,
  { mayForce, stalledMs }: { mayForce: boolean; stalledMs: number },
): Error => {
  const head = `${error.operation} ${kind.word} ${uid}: ${apiText(error)}`;
  const text = [head, ...blockingText(blocking, stalledMs, mayForce && kind.supportsForceDestroy === "below")].join(
    "\n",
  );
  return new Error(withSection(text, "blocked"));
};

const blockingText = ({ count, lines }: Blocking, stalledMs: number, mayForce: boolean): string[] => {
  const stalled = `No progress for ${stalledMs / 1000} s`;
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
