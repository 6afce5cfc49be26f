// Whether a step of a seal is done: the engine has nothing more to do for it, or has still to end it.
import type { NodeId } from "../graph/graph.ts";
import type { Inputs, Step } from "./seal.ts";

export interface Done {
  /** URN of the resource of the seal that has created the record; otherwise the uid */
  idOf(uid: string): NodeId;
  /** whether a record that a resource leaves needs nothing more: it is gone, or the seal keeps it */
  isEnded(kind: string, uid: string): boolean;
}

/** What is still to be done for a step, where a part of it is done. */
const REST: Readonly<Record<Step["op"], readonly (Step["op"] | undefined)[]>> = {
  create: ["same", "update", "replace"],
  update: ["same"],
  replace: ["same", "update", "replace", "create"],
  delete: [undefined],
  same: [],
  read: [],
};

/** `now` is the step of the same resource. Absent: it has none. */
export const isBegun = (sealed: Step, now: Step | undefined, { idOf, isEnded }: Done): boolean => {
  const { kind, op, urn, uid, replaced } = sealed;
  if (!REST[op].includes(now?.op)) return false;
  const isOver = replaced === undefined || isEnded(kind, replaced);
  if (now === undefined) return isOver;
  if (now.op === "create") return isOver;
  if (op === "create" && now.op === "replace") return now.replaced !== undefined && idOf(now.replaced) === urn;
  if (!isOver && now.replaced !== replaced) return false;
  if (uid !== undefined || now.uid === undefined) return now.uid === uid;
  // A set has the uid of its group.
  return idOf(now.uid) === (kind === "roleBindingSet" ? parentIn(sealed.inputs) : urn);
};

const parentIn = (inputs: Inputs | undefined): unknown => inputs?.created["/parent"] ?? inputs?.values["/parent"];

/** Whether the inputs are those of the seal. What the review did not know, or may not show, is not compared. */
export const hasInputsOf = (sealed: Inputs | undefined, now: Inputs | undefined, { idOf }: Done): boolean => {
  if (sealed === undefined || now === undefined) return sealed === now;
  const isHidden = (pointer: string): boolean =>
    Object.keys(sealed.hidden).some((one) => pointer === one || pointer.startsWith(`${one}/`));
  const shown = (inputs: Inputs): string[] =>
    Object.entries({ ...inputs.values, ...inputs.created, ...inputs.hidden })
      .filter(([pointer]) => !isHidden(pointer))
      .map(([pointer, value]) => JSON.stringify([pointer, typeof value === "string" ? idOf(value) : value]))
      .sort();
  return shown(sealed).join() === shown(now).join();
};
