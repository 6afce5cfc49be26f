// Whether a step of a seal is done: the engine has nothing more to do for it, or has still to end it.
import type { NodeId } from "../graph/graph.ts";
import { parentIn } from "./inputs.ts";
import type { Step } from "./seal.ts";

export interface Done {
  /** URN of the resource of the seal that has created the record; otherwise the uid */
  idOf(uid: string): NodeId;
  /** `KIND UID` of what the change deletes */
  deletes: ReadonlySet<string>;
  /** The record is not there any more. */
  isGone(kind: string, uid: string): boolean;
}

/** What is still to be done for a step, where a part of it is done. */
const REST: Readonly<Record<Step["op"], readonly (Step["op"] | undefined)[]>> = {
  create: ["same", "update", "replace"],
  // An update also deletes what an interrupted run has left.
  update: ["same", "update"],
  replace: ["same", "update", "replace", "create"],
  delete: [undefined],
  same: ["same"],
  read: [],
};

/** `now` is the step of the same resource. Absent: it has none. */
export const isBegun = (sealed: Step, now: Step | undefined, { idOf, deletes, isGone }: Done): boolean => {
  const { kind, op, urn, uid, replaced } = sealed;
  if (!REST[op].includes(now?.op)) return false;
  if (now?.op === op && replaced === now.replaced && uid !== undefined) return false;
  // What the resource leaves needs nothing more, or stays.
  const isOver = replaced === undefined || !deletes.has(`${kind} ${replaced}`) || isGone(kind, replaced);
  if (now === undefined) return isOver;
  if (now.op === "create") return isOver;
  if (op === "create" && now.op === "replace") return now.replaced !== undefined && idOf(now.replaced) === urn;
  if (!isOver && now.replaced !== replaced) return false;
  if (uid !== undefined || now.uid === undefined) return now.uid === uid;
  // A set has the uid of its group.
  return idOf(now.uid) === (kind === "roleBindingSet" ? parentIn(sealed.inputs) : urn);
};
