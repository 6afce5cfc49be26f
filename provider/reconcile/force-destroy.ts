// forceDestroy of a group: deletes the records below it that the engine does not know, deepest first, and logs them before the first
// delete. It refuses an organization, too many records, and deletions that would reach beyond the group.
import { apiErrorOf, apiText, withoutSection, withSection } from "../../client/errors.ts";
import { listAll } from "../../client/records.ts";
import { bulleted, FORCE_DESTROY_MAX, isAncestor, isRoot, type Json, resources } from "../../schema/index.ts";
import { BELOW } from "../kind/index.ts";
import { recordId } from "../record/id.ts";
import { recordText, title } from "../record/kind.ts";
import { deleteListed } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";

interface Doomed {
  uid: string;
  /** unique among the records of all kinds */
  id: string;
  word: string;
  text: string;
  remove: (typeof BELOW)[number]["operations"]["delete"];
  /** order of deletion among records of the same depth */
  rank: number;
}

/** `stored` are the outputs of the group. */
export const forceDestroy = async (session: Session, uid: string, stored: Json): Promise<void> => {
  const head = `group ${uid} ${title(stored)}: forceDestroy`;
  if (isRoot(uid)) throw blocked(`${head} is refused on a root group: it would empty an organization`);
  const doomed = await recordsBelow(session, uid);
  const max = (stored.forceDestroyMax as number | undefined) ?? FORCE_DESTROY_MAX;
  const list = doomed.map(({ text }) => text);
  if (doomed.length > max) {
    const text = `${head}: ${doomed.length} records are below it, and forceDestroyMax is ${max}; nothing was deleted:`;
    throw blocked(bulleted(text, ...list));
  }
  const advisories = await advisoriesBelow(session, uid);
  if (advisories.length > 0) {
    const text = `${head}: no method deletes these advisories, so the group would stay; nothing was deleted:`;
    throw blocked(bulleted(text, ...advisories));
  }
  const outside = await bindingsOutside(session, uid, doomed);
  if (outside.length > 0) {
    const text = `${head}: these role bindings are outside it and would be deleted with identities below it; nothing was deleted:`;
    throw blocked(bulleted(text, ...outside));
  }
  const held = doomed.filter((one) => session.ownership.isHeld(one.id));
  if (held.length > 0)
    throw stillDeclared(
      head,
      held.map(({ text }) => text),
    );
  session.log(bulleted(`${head}: deletes ${doomed.length} records below it:`, ...list));
  for (const [index, one] of doomed.entries()) {
    try {
      await deleteListed(session, { word: one.word, operations: { delete: one.remove } }, one.uid);
    } catch (error) {
      const left = list.slice(index);
      const cause = apiErrorOf(error);
      const reason = cause ? apiText(cause) : withoutSection((error as Error).message);
      throw blocked([`${head}: ${one.text}: ${reason}`, ...left].join("\n  - left: "), error);
    }
  }
};

/**
 * forceDestroy deletes no record that the program declares, and no adopted record that this run has reported as left in place.
 */
export const stillDeclared = (head: string, held: readonly string[]): Error =>
  blocked(bulleted(`${head}: this run keeps these records, or leaves them in place; nothing was deleted:`, ...held));

const blocked = (text: string, cause?: unknown) => new Error(withSection(text, "blocked"), { cause });

const depthOf = (uid: string) => uid.split("/").length;

const recordsBelow = async (session: Session, group: string): Promise<Doomed[]> => {
  const doomed: Doomed[] = [];
  for (const [rank, { list, field, operations, word }] of BELOW.entries()) {
    const filters = [{ descendantsOf: group }, ...(list.sharesUid ? [{ ids: [group] }] : [])];
    for (const uidp of filters)
      for await (const record of listAll(session, list, { uidp })) {
        const { uid } = record;
        // A service that ignores the filter must not decide which records are deleted.
        if (!isAncestor(group, uid) && !(list.sharesUid && uid === group)) continue;
        const text = recordText({ word }, record);
        doomed.push({ uid, id: recordId(field, uid), word, text, remove: operations.delete, rank });
      }
  }
  return doomed.sort((a, b) => depthOf(b.uid) - depthOf(a.uid) || a.rank - b.rank);
};

const advisoriesBelow = async (session: Session, group: string) => {
  const found: string[] = [];
  const uidp = { descendantsOf: group };
  for await (const { uid } of listAll(session, resources.advisory.list, { uidp }))
    if (isAncestor(group, uid)) found.push(`advisory ${uid}`);
  return found;
};

// Deleting an identity deletes its role bindings, wherever they are (docs/internals/contract.md#d8).
const bindingsOutside = async (session: Session, group: string, doomed: readonly Doomed[]) => {
  const outside: string[] = [];
  for (const { uid, text } of doomed.filter(({ remove }) => remove === "DeleteIdentity"))
    for await (const binding of listAll(session, resources.roleBinding.list, { identity: uid }))
      if (!isAncestor(group, binding.uid)) outside.push(`role binding ${binding.uid} ${title(binding)} of ${text}`);
  return outside;
};
