// Whether what a request does to people who have no identity is what the seal shows: by an identity provider, a mapping of an external
// group, or an invite. Each of these records is a subject that holds one role.
import { textOf } from "../graph/same.ts";
import { heldBeyond, type Outcome, outcomeOf, type WrittenRole } from "./access-check.ts";
import type { Rests } from "./rests.ts";

export type PeopleKind = "identityProvider" | "externalGroupRoleMapping" | "groupInvite";

/** A record that gives a role to people. */
export interface Giver {
  kind: PeopleKind;
  uid: string;
  name: string;
  group: string;
  role: string;
  /** of a mapping: its identity provider */
  provider?: string;
}

/** All that the caller may list. */
const giversIn = async ({ facts }: Rests): Promise<Giver[]> => {
  const { providers, externalGroups, invites } = await facts.people();
  return [
    ...[...providers.values()].flatMap(({ id: uid, name, group, defaultRole: role }): Giver[] =>
      role === null ? [] : [{ kind: "identityProvider", uid, name: `people of ${name}`, group, role }],
    ),
    ...[...externalGroups.values()].map(
      ({ id: uid, externalGroupId, provider, group, role }): Giver => ({
        ...{ kind: "externalGroupRoleMapping", uid, name: `external group ${externalGroupId}`, provider, group, role },
      }),
    ),
    ...[...invites.values()].flatMap(({ id: uid, name, group, role }): Giver[] =>
      role === null ? [] : [{ kind: "groupInvite", uid, name: `invite ${name}`, group, role }],
    ),
  ];
};

const outcome = (
  rests: Rests,
  { kind, uid, name, ...holding }: Giver,
  { isNow, isNext, written }: { isNow: boolean; isNext: boolean; written?: WrittenRole },
): Promise<Outcome> =>
  outcomeOf(rests, {
    ...{ subject: rests.idOf(kind, uid), name },
    ...{ now: isNow ? [holding] : [], next: isNext ? [holding] : [] },
    ...(written && { written }),
  });

/** Of a role that changes: everyone who gets it without an identity. */
export const reachedPeople = async (rests: Rests, written: WrittenRole): Promise<string[]> => {
  const problems = [];
  for (const giver of await giversIn(rests))
    if (giver.role === written.uid)
      problems.push(...(await outcome(rests, giver, { isNow: true, isNext: true, written })).problems);
  return problems;
};

/** Of a record that is deleted, with the mappings of an identity provider. */
export const deletedPeople = async (rests: Rests, kind: PeopleKind, uid: string): Promise<string[]> => {
  const problems = [];
  for (const giver of await giversIn(rests))
    if ((giver.kind === kind && giver.uid === uid) || giver.provider === uid)
      problems.push(...(await outcome(rests, giver, { isNow: true, isNext: false })).problems);
  return problems;
};

/** Of an identity provider that other people sign in at: they get all that it and its mappings give. */
export const otherPeople = async (rests: Rests, provider: Giver | undefined, uid: string): Promise<string[]> => {
  const mappings = (await giversIn(rests)).filter((one) => one.provider === uid);
  const problems = [];
  for (const { kind, uid: own, name, ...holding } of provider ? [provider, ...mappings] : mappings) {
    const beyond = await heldBeyond(rests, { subject: rests.idOf(kind, own), holdings: [holding] });
    problems.push(...beyond.map((row) => `${name} would hold ${row}, which the review does not show`));
  }
  return problems;
};

/** Whether people sign in where the seal says. */
export const signInProblems = async ({ change, facts, idOf }: Rests, uid: string): Promise<string[]> => {
  const id = idOf("identityProvider", uid);
  const now = (await facts.record("identityProvider", uid, id !== uid)).providers.get(uid);
  if (!now) return [`identity provider ${uid} does not exist any more`];
  const isShown = [change.before, change.after]
    .flatMap(({ providers }) => providers.get(id) ?? [])
    .some(({ signIn }) => textOf(signIn) === textOf(now.signIn));
  return isShown ? [] : [`where the people of ${now.name} sign in is not what the review shows`];
};
