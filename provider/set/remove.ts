// Removes bindings of a set, one by one and after all additions, so that access is never interrupted.
import { type Json, parentOf } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { deletesOf } from "../reconcile/delete-order.ts";
import { recordId } from "../record/id.ts";
import { deleteOrConfirm } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { type Binding, bindingText } from "./pair.ts";

const kind = kindRecords.roleBinding;

/** The pairs in a form that can be pasted into the program again. */
const restorable = ({ identity, role }: Binding): string =>
  `{ identity: "${identity.uid}", role: "${role.uid}" }, // ${bindingText({ uid: "", identity, role })}`;

/** Logged before the first removal: a killed run has named what it may have removed. */
export const logRemovals = (session: Session, name: string, removals: readonly Binding[]): void => {
  const [first] = removals;
  if (!first) return;
  const count = removals.length === 1 ? "1 role binding" : `${removals.length} role bindings`;
  const head = `RoleBindingSet ${name}: removing ${count} of group ${parentOf(first.uid)}; to restore one, add its pair to bindings:`;
  session.log([head, ...removals.map((one) => `  ${restorable(one)}`)].join("\n"));
};

/**
 * Deletes one of a set, which has this key. A binding that is already gone is no error. Returns false where another resource of the stack
 * manages it now. `stored` has the time of creation of the newest one.
 */
export const removeBinding = async (session: Session, key: unknown, one: Binding, stored: Json): Promise<boolean> => {
  const id = recordId(kind.field, one.uid);
  if (!session.ownership.release(id, key)) {
    session.log(`role binding ${one.uid} (${bindingText(one)}) stays: another resource of this stack manages it`);
    return false;
  }
  await deleteOrConfirm(kind, session, one.uid, stored);
  deletesOf(session).finished(one.uid, [one.identity.uid, one.role.uid]);
  return true;
};

/** Those of the identity that the run acts as come last: without them it could not remove the others. */
export const inOrder = <T extends Binding>(removals: readonly T[], identity: string | undefined): T[] => [
  ...removals.filter((one) => one.identity.uid !== identity),
  ...removals.filter((one) => one.identity.uid === identity),
];
