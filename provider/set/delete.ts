// Delete of a set: its managed bindings, one by one. Those that it does not manage stay.
import type { Json } from "../../schema/index.ts";
import type { Session } from "../session/session.ts";
import { bindingsIn } from "./pair.ts";
import { inOrder, logRemovals, removeBinding } from "./remove.ts";

/** `stored` are the outputs in the state. */
export const deleteSet = async (session: Session, name: string, stored: Json): Promise<void> => {
  const { updateTime: createTime } = stored;
  const managed = inOrder(bindingsIn(stored, "bindings"), await session.identity());
  logRemovals(session, name, managed);
  for (const one of managed) await removeBinding(session, one, { createTime });
};
