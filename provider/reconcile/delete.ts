// Delete: what is gone already is done; what still holds something waits for the deletes of this run; an adopted record stays.
import { apiErrorOf, hasCode } from "../../client/errors.ts";
import { listAll } from "../../client/paginate.ts";
import { deleteRecord } from "../../client/records.ts";
import { apiError, type Json } from "../../schema/index.ts";
import { type Kind, title } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import type { Session } from "../session/session.ts";
import { staysOnDelete } from "../state/state.ts";
import { deleteWhenFree, leftBelow } from "./delete-order.ts";
import { destroyBelow, stillDeclared } from "./force-destroy.ts";
import { confirmGone } from "./not-found.ts";
import { whileYoung } from "./young.ts";

/** `stored` are the outputs in the state. False: the record stays. */
export const remove = async (kind: Kind, session: Session, id: string, stored: Json): Promise<boolean> => {
  const subject = [kind.word, id, title(stored)].filter(Boolean).join(" ");
  if (staysOnDelete(stored)) {
    session.claims.leave(recordId(kind.field, id));
    session.say(`${subject} was adopted and is left in place; deleteAdopted: true deletes it with the resource`);
    return false;
  }
  if (!session.claims.release(recordId(kind.field, id), stored.adopted === true)) {
    session.say(`${subject} stays: another resource of this stack has taken it`);
    return false;
  }
  const forced = stored.forceDestroy === true;
  const send = async () => {
    try {
      await whileYoung(session, stored, () => deleteRecord(session, kind, id, stored.name));
    } catch (error) {
      if (hasCode(error, "FAILED_PRECONDITION") && kind.blockers) return apiErrorOf(error);
      if (!hasCode(error, "NOT_FOUND")) throw error;
      // Gone already is what was asked for. An earlier attempt whose answer was lost looks the same from here.
      await confirmGone(kind, session, id, "delete");
    }
    return undefined;
  };
  const guarded = async () => {
    const { guarded: text } = kind;
    if (!text) return send();
    const left = await leftBelow(kind, session, id);
    if (left.whole && left.count === 0) return send();
    const operation = kind.operations.delete;
    const why = left.whole ? text : "what would go with it could not be listed";
    return apiError("FAILED_PRECONDITION", forced ? why : `${why}; forceDestroy: true lets them go`, { operation });
  };
  const attempt = kind.forceable === "guarded" && forced ? send : guarded;
  if (attempt === send && kind.guarded) await tellWhatGoes(kind, session, id, subject);
  const force = kind.forceable === "below" && forced ? () => destroyBelow(session, id, stored) : undefined;
  await deleteWhenFree(kind, session, id, attempt, force);
  if (kind.list.sharesUid) session.claims.gone(recordId(kind.field, id));
  session.deletes.finished(id, kind.releases?.(stored));
  return true;
};

const tellWhatGoes = async (kind: Kind, session: Session, id: string, subject: string): Promise<void> => {
  const lines: string[] = [];
  const held: string[] = [];
  for (const { request, word, ...list } of kind.blockers?.(id) ?? [])
    for await (const record of listAll(session, list, request)) {
      const line = [word, record.uid, title(record)].filter(Boolean).join(" ");
      (session.claims.isHeld(record.uid) ? held : lines).push(line);
    }
  if (held.length > 0) throw stillDeclared(`${subject}: forceDestroy`, held);
  if (lines.length > 0)
    session.say([`${subject}: forceDestroy; ${lines.length} that go with it:`, ...lines].join("\n  - "));
};
