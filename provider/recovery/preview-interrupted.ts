// What a preview says of a new resource whose create a killed run had begun, as the engine's state has it. It neither waits nor writes.
import { apiErrorOf, sessionErrorOf } from "../../client/errors.ts";
import { NOT_VISIBLE_YET, takeoverText } from "../../client/preview-marks.ts";
import type { Json } from "../../schema/index.ts";
import { desiredFrom, withUids } from "../record/desired.ts";
import { createTimeOf } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import { containsUnknown } from "../record/normal-form.ts";
import { KEY, nameInKey } from "../record/state.ts";
import { type Session, withOneAttempt } from "../run/session.ts";
import { hiddenMs } from "./operations.ts";
import type { Shown } from "./preview.ts";
import { findInterrupted, isReplaced, searchInterrupted } from "./recover-interrupted.ts";

/** Undefined where no killed run has left anything for the resource. Throws where the update would fail. */
export const previewInterrupted = async (kind: Kind, session: Session, inputs: Json): Promise<Shown | undefined> => {
  const { [KEY]: key, adopt, names: _names, ...asked } = inputs;
  if (typeof key !== "string" || adopt !== undefined) return undefined;
  const once = withOneAttempt(session);
  try {
    const desired = await withUids(once, desiredFrom(kind, inputs));
    const own = await findInterrupted(once, desired);
    const [last] = own.toSorted((a, b) => b.entry.at - a.entry.at);
    if (!last) return undefined;
    const describe = (record: string, taken: Shown["taken"]): Shown => ({
      taken,
      text: takeoverText(`${kind.type} ${nameInKey(key)}`, record, taken),
    });
    const record = await searchInterrupted(once, desired, own, async () => 0);
    if (record) {
      const name = `${kind.word} ${record.uid} ${title(record)}`.trimEnd();
      // The update creates another one, and deletes this one.
      if (!containsUnknown(asked) && isReplaced(desired, record)) return undefined;
      return describe(name, { uid: record.uid as string, at: createTimeOf(record) });
    }
    const isHidden = (await Promise.all(own.map((one) => hiddenMs(once, one)))).some((ms) => ms > 0);
    const at = new Date(last.entry.at).toISOString();
    return isHidden ? describe(withArticle(kind.word), { at, doubt: NOT_VISIBLE_YET }) : undefined;
  } catch (error) {
    if (sessionErrorOf(error) ?? apiErrorOf(error) ?? apiErrorOf((error as Error).cause)) return undefined;
    throw error;
  }
};
