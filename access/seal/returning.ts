// What a request takes from a subject, and the change gives back by another step. It must still be able to: what is there already, or rests on
// a role that grants less now, gives nothing back.
import { type AccessGraph, type BindingNode, lineageOf, type NodeId } from "../graph/graph.ts";
import type { AccessRow } from "../review/change.ts";
import type { Change, IdOf } from "./change.ts";
import type { Facts } from "./facts.ts";

interface Rests {
  change: Change;
  facts: Pick<Facts, "record">;
  idOf: IdOf;
}

export interface Taken {
  subject: NodeId;
  losses: readonly AccessRow[];
  /** what the subject holds after the request */
  next: readonly { group: string; role: string }[];
  /** before it */
  live: AccessGraph;
}

/** The losses after which the subject would have less than the seal shows. */
export const notReturning = async (
  rests: Rests,
  { subject, losses, next, live }: Taken,
): Promise<readonly AccessRow[]> => {
  const { change, idOf } = rests;
  const held = new Set(next.map(({ group, role }) => `${idOf("group", group)} ${idOf("role", role)}`));
  const problems = [];
  for (const row of losses) {
    const given = change.givenAfter(subject, row.capability, lineageOf(live, row.group));
    const returns = await Promise.all(given.map((one) => isToCome(rests, one, row.capability, held)));
    if (given.length > 0 && !returns.includes(true)) problems.push(row);
  }
  return problems;
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
