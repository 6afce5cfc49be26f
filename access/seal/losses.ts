// What a request takes from a subject, and may not: what the seal does not show, and what it shows for a moment only where that would last.
import { type AccessGraph, type BindingNode, lineageOf, type NodeId } from "../graph/graph.ts";
import type { AccessRow } from "../review/change.ts";
import type { Holding, Rests } from "./rests.ts";
import { notShown } from "./rows.ts";

export interface Taken {
  subject: NodeId;
  losses: readonly AccessRow[];
  /** what this run has given */
  given: readonly AccessRow[];
  now: readonly Holding[];
  next: readonly Holding[];
  /** the graph of `now`, each with a role binding in this order */
  live: AccessGraph;
}

export const lossesBeyond = async (rests: Rests, taken: Taken): Promise<readonly AccessRow[]> => {
  const { change } = rests;
  const { subject, losses, given, live } = taken;
  const open = notShown(losses, given, live);
  const beyond = notShown(open, change.lossesOf(subject), live);
  const unended = new Set(notShown(beyond, change.endedOf(subject), live));
  const shown = open.filter((row) => !beyond.includes(row));
  const others = beyond.filter((row) => unended.has(row) || !isOfChange(rests, taken, row));
  return [...others, ...(await notReturning(rests, taken, shown))];
};

/** Only an earlier run under this seal has given it, and no hand beside it. */
const isOfChange = ({ change, idOf }: Rests, { now, live }: Taken, { group, capability }: AccessRow): boolean => {
  const places = lineageOf(live, group);
  return [...live.bindings.values()].every((one, at) => {
    const { uid } = now[at] as Holding;
    const gives = places.includes(one.group) && live.roles.get(one.role)?.capabilities.includes(capability);
    return !gives || uid === undefined || change.before.bindings.has(uid) || idOf("roleBinding", uid) !== uid;
  });
};

/**
 * What another step of the change gives back must still come: what is there already, or rests on a role that grants less now, gives
 * nothing back.
 */
const notReturning = async (
  rests: Rests,
  { subject, next, live }: Taken,
  shown: readonly AccessRow[],
): Promise<readonly AccessRow[]> => {
  const { change, idOf } = rests;
  const held = new Set(next.map(({ group, role }) => `${idOf("group", group)} ${idOf("role", role)}`));
  const lost = [];
  for (const row of shown) {
    const given = change.givenAfter(subject, row.capability, lineageOf(live, row.group));
    const returns = await Promise.all(given.map((one) => isToCome(rests, one, row.capability, held)));
    if (given.length > 0 && !returns.includes(true)) lost.push(row);
  }
  return lost;
};

/** `held`: the pairs of a group and a role that the subject has. */
const isToCome = async (
  { change: { before }, facts }: Rests,
  { group, role }: BindingNode,
  capability: string,
  held: ReadonlySet<string>,
): Promise<boolean> => {
  const old = before.roles.get(role);
  // The update of the role adds it.
  if (old && !old.capabilities.includes(capability)) return true;
  if (held.has(`${group} ${role}`)) return false;
  // A new role is created with it.
  if (!old) return true;
  return (await facts.record("role", role)).roles.get(role)?.capabilities.includes(capability) === true;
};
