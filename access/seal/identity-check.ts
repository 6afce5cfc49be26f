// Whether what a request does to an identity is what the seal shows: what it gains and loses, and who can assume it.
import { parentOf } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import type { Listed } from "../graph/live-record.ts";
import { isSameRelationship } from "../graph/same.ts";
import { heldBeyond, outcomeOf, type WrittenRole } from "./access-check.ts";
import type { Change } from "./change.ts";
import { type Facts, uidIn } from "./facts.ts";
import type { Holding, Rests } from "./rests.ts";
import { titleOf } from "./title.ts";

/** A role binding that exists. */
export interface Bound extends Holding {
  uid: string;
}

/** As the API lists it. */
export const boundFrom = ({ uid, role }: Listed): Bound => ({ uid, group: parentOf(uid), role: uidIn(role) });

/** What a request does: it gives and takes role bindings, or writes a role. */
export interface IdentityEffect {
  /** known to the caller, and perhaps not in a list that was read before */
  bound?: readonly Bound[];
  gives?: Holding;
  /** uid of the role binding */
  takes?: string | "all";
  written?: WrittenRole;
}

/** What differs from the seal, each a sentence; empty where nothing does. */
export const identityProblems = async (
  rests: Rests,
  uid: string,
  { bound = [], gives, takes, written }: IdentityEffect,
): Promise<readonly string[]> => {
  const { change, facts, idOf } = rests;
  const subject = idOf("identity", uid);
  const now = await boundTo(rests, uid, bound);
  const kept = takes === "all" ? [] : now.filter((one) => one.uid !== takes);
  const next = gives ? [...kept, gives] : kept;
  const { problems, gains } = await outcomeOf(rests, {
    ...{ subject, now, next, name: () => whoIs(rests, uid) },
    ...(written && { written }),
  });
  return gains.length === 0 ? problems : [...problems, ...(await claimProblems(change, facts, subject, uid))];
};

/** What the run creates itself has no role bindings yet, but for those that the caller knows. */
const boundTo = async ({ facts, idOf }: Rests, uid: string, known: readonly Bound[]): Promise<Bound[]> => {
  const listed = idOf("identity", uid) === uid ? await facts.bindingsOf(uid) : [];
  const own = listed.filter(({ identity }) => uidIn(identity) === uid).map(boundFrom);
  return [...new Map([...own, ...known].map((one) => [one.uid, one])).values()];
};

/** Whether the API says what the seal says about who can assume the identity. */
export const claimProblems = async (
  { before, after }: Pick<Change, "before" | "after">,
  facts: Facts,
  id: NodeId,
  uid: string,
): Promise<string[]> => {
  const now = (await facts.record("identity", uid, id !== uid)).identities.get(uid);
  if (!now) return [`identity ${uid} does not exist any more`];
  const shown = [before, after].flatMap(({ identities }) => identities.get(id) ?? []);
  if (shown.some(({ relationship }) => isSameRelationship(relationship, now.relationship))) return [];
  return [`who can assume ${now.name} is not what the review shows`];
};

/** Whether the identity holds anything now that the seal does not have: another workload would get it too. */
export const heldProblems = async (rests: Rests, uid: string): Promise<string[]> => {
  const { facts, idOf } = rests;
  const subject = idOf("identity", uid);
  await facts.requireListable("roleBinding", parentOf(uid));
  const holdings = (await facts.bindingsOf(uid)).map(boundFrom);
  const beyond = await heldBeyond(rests, { subject, holdings });
  if (beyond.length === 0) return [];
  const who = await whoIs(rests, uid);
  return beyond.map((row) => `${who} holds ${row}, which the review does not show`);
};

/** Its name, where the review has it; otherwise also its uid. */
const whoIs = async (rests: Rests, uid: string): Promise<string> => {
  const { change, idOf } = rests;
  const id = idOf("identity", uid);
  return (change.after.identities.get(id) ?? change.before.identities.get(id))?.name ?? titleOf(rests, "identity", uid);
};
