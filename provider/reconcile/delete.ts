// Delete. A record that is already deleted needs nothing; one that others block waits for the deletes of this run; an adopted one
// stays.
import { apiErrorOf, hasCode } from "../../client/errors.ts";
import { listAll } from "../../client/paginate.ts";
import { apiError, type Json } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { type Kind, title } from "../record/kind.ts";
import { KEY, staysOnDelete } from "../record/state.ts";
import { deleteOrConfirm } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { isCleared } from "./delete-guard.ts";
import { deletesOf, deleteWhenUnblocked, listBlocking } from "./delete-order.ts";
import { forceDestroy, stillDeclared } from "./force-destroy.ts";

/** `stored` are the outputs in the state. Returns false where the record stays. */
export const remove = async (kind: Kind, session: Session, id: string, stored: Json): Promise<boolean> => {
  const subject = [kind.word, id, title(stored)].filter(Boolean).join(" ");
  if (staysOnDelete(stored)) {
    session.ownership.leave(recordId(kind.field, id));
    session.log(`${subject} was adopted and is left in place; deleteAdopted: true deletes it with the resource`);
    return false;
  }
  if (!session.ownership.release(recordId(kind.field, id), stored[KEY], stored.adopted === true)) {
    session.log(`${subject} stays: another resource of this stack manages it`);
    return false;
  }
  const forced = stored.forceDestroy === true;
  const send = async () => {
    try {
      await deleteOrConfirm(kind, session, id, stored);
      return undefined;
    } catch (error) {
      if (hasCode(error, "FAILED_PRECONDITION") && kind.blockers) return apiErrorOf(error);
      throw error;
    }
  };
  const guarded = async () => {
    const { deleteGuard: text } = kind;
    if (!text || (await isCleared(kind, session, id))) return send();
    const { count, isComplete } = await listBlocking(kind, session, id);
    if (isComplete && count === 0) return send();
    const operation = kind.operations.delete;
    const why = isComplete ? text : "the records that would be deleted with it could not be listed";
    return apiError("FAILED_PRECONDITION", forced ? why : `${why}; forceDestroy: true deletes them too`, { operation });
  };
  const attempt = kind.supportsForceDestroy === "guarded" && forced ? send : guarded;
  if (attempt === send && kind.deleteGuard) await reportBlockers(kind, session, id, subject);
  const force = kind.supportsForceDestroy === "below" && forced ? () => forceDestroy(session, id, stored) : undefined;
  await deleteWhenUnblocked(kind, session, id, attempt, force);
  if (kind.list.sharesUid) session.ownership.forget(recordId(kind.field, id));
  deletesOf(session).finished(id, kind.references?.(stored));
  return true;
};

const reportBlockers = async (kind: Kind, session: Session, id: string, subject: string): Promise<void> => {
  const lines: string[] = [];
  const held: string[] = [];
  for (const { request, word, ...list } of kind.blockers?.(id) ?? [])
    for await (const record of listAll(session, list, request)) {
      const line = [word, record.uid, title(record)].filter(Boolean).join(" ");
      (session.ownership.isHeld(record.uid) ? held : lines).push(line);
    }
  if (held.length > 0) throw stillDeclared(`${subject}: forceDestroy`, held);
  if (lines.length > 0)
    session.log(
      [
        `${subject}: forceDestroy deletes ${lines.length} ${lines.length === 1 ? "record" : "records"} with it:`,
        ...lines,
      ].join("\n  - "),
    );
};
