// At the end of a program it is known what it declares: what else an open run created is deleted by the update, as the engine deletes what a
// program no longer declares.
import { recordId } from "../record/id.ts";
import type { Session } from "../run/session.ts";
import { awaitLeftovers, type Leftover } from "./leftover.ts";
import { findOpenStack, lostIn } from "./stack.ts";

/** What the program has, once the engine has told it. */
export interface Declared {
  /** ids of its records (`recordId`), also of those in its sets */
  records: ReadonlySet<string>;
  /** `Group::team`: its resources of which the engine has not told a record */
  places: ReadonlySet<string>;
}

export interface Undeclared {
  /** deleted by the update */
  own: Leftover[];
  /** what is not certain: a person decides */
  doubtful: Leftover[];
}

/** Undefined where the stack is not open. `key` is of any resource of it. An update waits for what may still appear. */
export const findUndeclared = async (
  session: Session,
  { key, isPreview }: { key: string; isPreview: boolean },
  declared: Declared,
): Promise<Undeclared | undefined> => {
  // The provider of this run is one that is under way, and has waited for the others.
  const stack = await findOpenStack(session, { key, isPreview: true });
  if (!stack) return undefined;
  const isUndeclared = ({ entry, kind, record }: Leftover): boolean => {
    const uid = record?.uid ?? entry.uid;
    const isHeld = uid !== undefined && kind !== undefined && declared.records.has(recordId(kind.field, uid));
    return !isHeld && !mayTakeOver(declared, entry.key);
  };
  const first = stack.leftovers.filter(isUndeclared);
  const undeclared = isPreview ? first : (await awaitLeftovers(session, first, stack.about)).filter(isUndeclared);
  const own = lostIn(stack, undeclared);
  return { own, doubtful: undeclared.filter((one) => !own.includes(one)) };
};

/** A resource without a record may take this one over later: the run leaves it out, or fails. A pair of a set has the key of the set first. */
const mayTakeOver = ({ places }: Declared, key: string): boolean => {
  const place = key.split("/").slice(3).join("/");
  return places.has(place) || places.has(place.replace(PAIR, ""));
};

const PAIR = /(?: [0-9a-f]{40}(?:\/[0-9a-f]{16})*){3}$/;
