// Whether a write of a record that gives a role to people is one that the seal shows, and whether what it does now is what the seal shows.
import { type Json, parentOf } from "../../schema/index.ts";
import { type AccessGraph, type NodeId, newGraph } from "../graph/graph.ts";
import { addExternalGroup, addInvite, addProvider } from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import { added, type Check, isOwn, outcomeOf } from "./access-check.ts";
import { deletedPeople, otherPeople, type PeopleKind, signInProblems } from "./people-check.ts";
import type { Rests } from "./rests.ts";
import { titleOf } from "./title.ts";

const identityProvider: Check = async (rests, { verb, parent, uid, record, touches }) => {
  const { change, idOf } = rests;
  const { before, after } = change;
  const group = verb === "create" ? parent : parentOf(uid);
  const given = peopleNode("providers", record, group);
  const agrees = (one: { signIn: unknown; defaultRole: NodeId | null }): boolean =>
    (!touches("oidc") || textOf(one.signIn) === textOf(given.signIn)) &&
    (!touches("defaultRole") || one.defaultRole === roleId(rests, given.defaultRole));
  if (verb === "create") {
    const name = `people of ${record.name}`;
    const shown = added(before.providers, after.providers).find(
      (one) => one.group === idOf("group", parent) && agrees(one),
    );
    if (!shown) return [`identity provider ${record.name} would be created for people that the review does not show`];
    return given.defaultRole ? newPeople(rests, shown.id, name, { group, role: given.defaultRole }) : [];
  }
  const id = idOf("identityProvider", uid);
  const shown = after.providers.get(id);
  if (!shown || !agrees(shown))
    return [`the people of ${await titleOf(rests, "identityProvider", uid)} would not be those that the review shows`];
  const now = (await rests.facts.record("identityProvider", uid)).providers.get(uid)?.defaultRole;
  const role = touches("defaultRole") ? given.defaultRole : now;
  const name = `people of ${shown.name}`;
  const holding = (one: string | null | undefined) => (one ? [{ group, role: one }] : []);
  const { problems } = await outcomeOf(rests, { subject: id, name, now: holding(now), next: holding(role) });
  const giver = role ? { kind: "identityProvider" as const, uid, name, group, role } : undefined;
  return [
    ...problems,
    ...(await signInProblems(rests, uid)),
    // Other people sign in, and get every role that the provider gives.
    ...(touches("oidc") ? await otherPeople(rests, giver, uid) : []),
  ];
};

const externalGroupRoleMapping: Check = async (rests, { verb, parent, record }) => {
  if (verb === "update") return [];
  const { change, idOf } = rests;
  const { before, after } = change;
  const { externalGroupId, role, group } = peopleNode("externalGroups", record, parent);
  const shown = added(before.externalGroups, after.externalGroups).find(
    (one) =>
      one.provider === idOf("identityProvider", parent) &&
      one.externalGroupId === externalGroupId &&
      one.role === idOf("role", role) &&
      one.group === idOf("group", group),
  );
  if (!shown) return [`external group ${externalGroupId} would get a role that the review does not show`];
  const gained = await newPeople(rests, shown.id, `external group ${externalGroupId}`, { group, role });
  return [...gained, ...(await signInProblems(rests, parent))];
};

const groupInvite: Check = async (rests, { verb, parent, record }) => {
  if (verb === "update") return [];
  const { change, idOf } = rests;
  const { before, after } = change;
  const { role, email, singleUse } = peopleNode("invites", record, parent);
  const shown = added(before.invites, after.invites).find(
    (one) =>
      one.group === idOf("group", parent) &&
      one.role === roleId(rests, role) &&
      one.email === email &&
      one.singleUse === singleUse,
  );
  if (!shown) return ["an invite would be created that the review does not show"];
  return role ? newPeople(rests, shown.id, "the people of the invite", { group: parent, role }) : [];
};

/** `given`: of a create or an update. */
const checkOf =
  (kind: PeopleKind, given: Check): Check =>
  async (rests, write) => {
    if (write.verb !== "delete") return given(rests, write);
    return isOwn(rests, write) ? [] : deletedPeople(rests, kind, write.uid);
  };

const roleId = ({ idOf }: Rests, role: string | null): NodeId | null => (role ? idOf("role", role) : null);

const newPeople = async (
  rests: Rests,
  subject: NodeId,
  name: string,
  holding: { group: string; role: string },
): Promise<readonly string[]> => (await outcomeOf(rests, { subject, name, now: [], next: [holding] })).problems;

const ADD = { providers: addProvider, externalGroups: addExternalGroup, invites: addInvite } as const;

/** The node of a record that does not exist yet, in this place. */
const peopleNode = <K extends keyof typeof ADD>(kind: K, record: Json, parent: string) => {
  const graph = newGraph();
  const uid = `${parent}/${"0".repeat(16)}`;
  ADD[kind](graph, { ...record, uid });
  type Node = AccessGraph[K] extends ReadonlyMap<NodeId, infer N> ? N : never;
  return graph[kind].get(uid) as Node;
};

export const PEOPLE_CHECKS: Readonly<Record<string, Check>> = {
  identityProvider: checkOf("identityProvider", identityProvider),
  externalGroupRoleMapping: checkOf("externalGroupRoleMapping", externalGroupRoleMapping),
  groupInvite: checkOf("groupInvite", groupInvite),
};
