// Whether what people would get, who have no identity, is what the seal shows: by an identity provider, a mapping of an external group, or
// an invite.
import type { NodeId } from "../graph/graph.ts";
import { textOf } from "../graph/same.ts";
import type { Change, IdOf } from "./change.ts";
import type { Facts } from "./facts.ts";

/** Whether a role grants more than the seal has of it. */
export const roleProblems = async (
  { before, after }: Change,
  facts: Facts,
  idOf: IdOf,
  uid: string,
): Promise<string[]> => {
  const id = idOf("role", uid);
  const now = (await facts.record("role", uid, id !== uid)).roles.get(uid);
  if (!now) return [`role ${uid} does not exist any more`];
  const shown = new Set([before, after].flatMap(({ roles }) => roles.get(id)?.capabilities ?? []));
  const more = now.capabilities.filter((one) => !shown.has(one));
  return more.length === 0 ? [] : [`role ${now.name} grants ${more.join(", ")} now, which the review does not show`];
};

/** Whether people sign in where the seal says. */
export const signInProblems = async (
  { before, after }: Change,
  facts: Facts,
  idOf: IdOf,
  uid: string,
): Promise<string[]> => {
  const id = idOf("identityProvider", uid);
  const now = (await facts.record("identityProvider", uid, id !== uid)).providers.get(uid);
  if (!now) return [`identity provider ${uid} does not exist any more`];
  const isShown = [before, after]
    .flatMap(({ providers }) => providers.get(id) ?? [])
    .some(({ signIn }) => textOf(signIn) === textOf(now.signIn));
  return isShown ? [] : [`where the people of ${now.name} sign in is not what the review shows`];
};

/** People who get the role now and of whom the seal knows nothing: a change of the role would reach them. */
export const reachedPeople = async ({ before, after }: Change, facts: Facts, role: NodeId): Promise<string[]> => {
  const { providers, externalGroups, invites } = await facts.people();
  const isNew = (nodes: "providers" | "externalGroups" | "invites", id: NodeId): boolean =>
    !before[nodes].has(id) && !after[nodes].has(id);
  return [
    ...[...providers.values()]
      .filter((one) => one.defaultRole === role && isNew("providers", one.id))
      .map(({ name }) => `people of ${name}`),
    ...[...externalGroups.values()]
      .filter((one) => one.role === role && isNew("externalGroups", one.id))
      .map(({ externalGroupId }) => `external group ${externalGroupId}`),
    ...[...invites.values()]
      .filter((one) => one.role === role && isNew("invites", one.id))
      .map(({ name }) => `invite ${name}`),
  ].map((who) => `${who} would get what changes in the role, and the review does not show them`);
};

/** Uids of the roles that people of the identity provider get now. */
export const rolesOfPeople = async (facts: Facts, provider: NodeId): Promise<Set<string>> => {
  const { defaultRole } = (await facts.record("identityProvider", provider)).providers.get(provider) ?? {};
  const mapped = [...(await facts.people()).externalGroups.values()].filter((one) => one.provider === provider);
  return new Set([...(defaultRole ? [defaultRole] : []), ...mapped.map(({ role }) => role)]);
};

/** Mappings of the identity provider that the seal does not know: its people would get their roles. */
export const unknownMappings = async ({ before, after }: Change, facts: Facts, provider: NodeId): Promise<string[]> =>
  [...(await facts.people()).externalGroups.values()]
    .filter(
      (one) => one.provider === provider && !before.externalGroups.has(one.id) && !after.externalGroups.has(one.id),
    )
    .map(({ externalGroupId }) => `external group ${externalGroupId} has a role that the review does not show`);
