// The caller on a twin: the identity that will apply the program. By default it has the rights of an operator, so that credentials for reads
// suffice for a review.
import { type Copy, withIdentity } from "../../access/copy/copy.ts";
import { newGraph } from "../../access/graph/graph.ts";
import { visibilityIn } from "../../access/graph/live.ts";
import { addGroup } from "../../access/graph/live-record.ts";
import { whoAmI } from "../../access/query/whoami.ts";
import type { Client } from "../../client/client.ts";
import { parentOf, rootOf, UserError } from "../../schema/index.ts";

/** `own`: those of the identity itself, so that the review shows refused steps. */
export type Rights = "operator" | "own";

interface Actor {
  /** null: not known, so that steps which depend on it fail */
  uid: string | null;
  /** null: the caller cannot list it */
  name: string | null;
}

/** The service at this address, and its copy. */
interface Original {
  address: string;
  client: Client;
  copy: Copy;
}

/**
 * Of each service the identity that will apply the program there, and a copy that knows it. `as`: of the user, default: the caller's. It comes
 * first, and the output names it. `source` is its flag for errors. Throws UserError.
 */
export const actorsOf = async <O extends Original>(
  originals: readonly O[],
  { as, source = "--as", rights }: { as?: string | undefined; source?: string; rights: Rights },
): Promise<(O & { actor: Actor })[]> => {
  const isOf = ({ copy }: O, uid: string) =>
    nameIn(copy, uid) !== undefined ||
    (rights === "operator" &&
      (originals.length === 1 || copy.records.groups?.some((group) => group.uid === rootOf(uid)) === true));
  if (as !== undefined && !originals.some((one) => isOf(one, as)))
    throw new UserError(
      `${source} ${as}: no identity that you can list has this uid, so what it may do is not known; identities.list is needed where it is`,
    );
  const found: (O & { actor: Actor })[] = [];
  for (const one of originals) {
    const isNamed = as !== undefined && isOf(one, as);
    const uid = isNamed ? as : (await whoAmI(one.client)).identity;
    const name = uid === null ? undefined : nameIn(one.copy, uid);
    if (name === undefined && rights === "own")
      throw new UserError(
        `the caller ${uid ?? ""} cannot list its own identity at ${one.address}, so what it may do is not known: give --as, with the uid of the identity that applies the program`,
      );
    if (isNamed && name === undefined && isVisible(one, uid as string))
      throw new UserError(`${source} ${as}: there is no identity with this uid at ${one.address}`);
    const copy = uid === null || name !== undefined ? one.copy : withIdentity(one.copy, uid);
    found.push({ ...one, copy, actor: { uid, name: name ?? null } });
  }
  return found.sort((a, b) => Number(b.actor.uid === as) - Number(a.actor.uid === as));
};

const nameIn = ({ records, named }: Copy, uid: string) => {
  const found = [...(records.identities ?? []), ...named.identities].find((one) => one.uid === uid);
  return found && String(found.name ?? uid);
};

/** Whether the copy would have the identity. It has no identities of other organizations. */
const isVisible = ({ copy }: Original, uid: string) => {
  const groups = newGraph();
  for (const group of copy.records.groups ?? []) addGroup(groups, group.uid, String(group.name));
  return groups.groups.has(rootOf(uid)) && visibilityIn(groups, copy.copy.notVisible)("identity", parentOf(uid));
};
