// A pair gives one identity one role. A set declares pairs, and each has one role binding in the set's group.

import { UNKNOWN } from "../../pulumi/value.ts";
import { isRoot, isUidp, type Json } from "../../schema/index.ts";
import { type Desired, desiredWith } from "../record/desired.ts";
import type { LookUpSession } from "../record/kind.ts";
import { KEY, SECRET_NAME } from "../record/state.ts";
import { kindRecords } from "./index.ts";
import { builtInRoleUid, isRoleName, type Named, namedText } from "./names.ts";

const REMOVALS_MAX = 20;

/** The arguments beside the pairs, in inputs or outputs. */
export const settingsOf = ({ exclusive, maxRemovals }: Json) => ({
  /** removes undeclared bindings */
  exclusive: exclusive === true,
  /** most removals of an exclusive set in one run */
  maxRemovals: typeof maxRemovals === "number" ? maxRemovals : REMOVALS_MAX,
});

/** As the program gives it, among the inputs. */
export interface DeclaredPair {
  identity: string;
  /** a uid, or the name of a built-in role */
  role: string;
  /** the program's names for them */
  names: { identity?: string; role?: string };
}

/** A role binding in the outputs. A name that may be secret is left out. */
export interface Binding {
  uid: string;
  identity: { uid: string; name?: string };
  role: { uid: string; name?: string };
  /** why an exclusive set does not remove it */
  kept?: string;
}

/** The pairs of the inputs; none if a preview does not know them. */
export const pairsIn = ({ bindings, names }: Json): DeclaredPair[] =>
  Array.isArray(bindings)
    ? bindings.map((pair: DeclaredPair | typeof UNKNOWN, i) => {
        const { identity, role } = pair === UNKNOWN ? { identity: UNKNOWN, role: UNKNOWN } : pair;
        return { identity, role, names: (names as Json[])?.[i] ?? {} };
      })
    : [];

/** The role bindings in the outputs, managed or not. */
export const bindingsIn = (outputs: Json, member: "bindings" | "unmanaged"): Binding[] =>
  Array.isArray(outputs[member]) ? (outputs[member] as Binding[]) : [];

/** Whether a role binding matches the declared pair. */
export const grants = ({ identity, role }: Binding, pair: Pick<DeclaredPair, "identity" | "role">): boolean =>
  identity.uid === pair.identity &&
  (role.uid === pair.role || (isRoleName(pair.role) && isRoot(role.uid) && role.name === pair.role));

/** `"ci" as "viewer"` */
const pairText = (identity: Named, role: Named) => `${namedText(identity)} as ${namedText(role)}`;

export const bindingText = ({ identity, role }: Binding): string => pairText(identity, role);

export const declaredText = ({ identity, role, names }: DeclaredPair): string =>
  pairText(
    { uid: identity, name: names.identity },
    { uid: role, name: isRoleName(role) && names.role !== SECRET_NAME ? role : names.role },
  );

/** The role binding that a pair asks for, by uids: with the fingerprint of a RoleBinding that asks for the same. */
export const desiredPair = (set: string, group: string, identity: string, role: string): Desired =>
  desiredWith(
    kindRecords.roleBinding,
    { parent: group, identityUid: identity, roleUid: role },
    { [KEY]: keyFrom(set, group, identity, role) },
  );

/** The key of a pair, in the journal and as the owner of its binding: unique, since uids contain no space and come last. */
const keyFrom = (...parts: [set: string, group: string, identity: string, role: string]) => parts.join(" ");

export const pairKey = (set: string, group: string, { identity, role }: Binding): string =>
  keyFrom(set, group, identity.uid, role.uid);

/** Whether a key of the journal belongs to a pair of this set, in this group. */
export const isPairKeyOf = (set: string, group: string) => {
  const head = `${set} ${group} `;
  return (key: string) => {
    if (!key.startsWith(head)) return false;
    const uids = key.slice(head.length).split(" ");
    return uids.length === 2 && uids.every(isUidp);
  };
};

/** The pairs with the uids of their roles. */
export const withRoleUids = async (
  session: LookUpSession,
  pairs: readonly DeclaredPair[],
): Promise<readonly DeclaredPair[]> => {
  const uids = await Promise.all(pairs.map(({ role }) => (isRoleName(role) ? builtInRoleUid(session, role) : role)));
  return pairs.map((pair, i) => ({ ...pair, role: uids[i] as string }));
};
