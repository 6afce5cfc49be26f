// Whether a write of a role binding, an identity or a role is one that the seal shows, and whether what it does now is what the seal shows.
import { type Json, parentOf } from "../../schema/index.ts";
import { newGraph } from "../graph/graph.ts";
import { addRole, RELATIONSHIPS, relationshipOf } from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import { added, type Check, isOwn } from "./access-check.ts";
import { uidIn } from "./facts.ts";
import { boundFrom, claimProblems, heldProblems, identityProblems } from "./identity-check.ts";
import { reachedPeople } from "./people-check.ts";
import type { Rests } from "./rests.ts";
import { titleOf } from "./title.ts";

const roleBinding: Check = async (rests, write) => {
  const { verb, parent, uid, record } = write;
  const { change, facts, idOf } = rests;
  const { before, after } = change;
  const node = verb === "create" ? undefined : (await facts.record("roleBinding", uid)).bindings.get(uid);
  const now = node && { uid, identity: node.identity, group: parentOf(uid), role: node.role };
  const isCreated = isOwn(rests, write);
  if (verb === "delete") {
    if (!now || isCreated) return [];
    if (now.identity !== before.bindings.get(uid)?.identity)
      return [`role binding ${uid} is of another identity than the review shows`];
    return identityProblems(rests, now.identity, { bound: [now], takes: uid });
  }
  // An update may change one of the two only: the other one is as the API has it now.
  const given = (name: "identityUid" | "roleUid", other = ""): string =>
    typeof record[name] === "string" ? (record[name] as string) : other;
  const [identity, role] = [given("identityUid", now?.identity), given("roleUid", now?.role)];
  const group = verb === "create" ? parent : parentOf(uid);
  const isShown = [...after.bindings.values()].some(
    (one) =>
      one.group === idOf("group", group) &&
      one.identity === idOf("identity", identity) &&
      one.role === idOf("role", role) &&
      (verb === "create" || isCreated ? !before.bindings.has(one.id) : one.id === uid),
  );
  if (!isShown) return [`${await bindingText(rests, { identity, role, group })} would be granted`];
  const isMoved = now !== undefined && now.identity !== identity;
  return [
    ...(await identityProblems(rests, identity, {
      ...{ bound: now && !isMoved ? [now] : [], gives: { group, role } },
      ...(now && !isMoved && { takes: uid }),
    })),
    ...(isMoved && !isCreated ? await identityProblems(rests, now.identity, { bound: [now], takes: uid }) : []),
  ];
};

const identity: Check = async (rests, write) => {
  const { verb, parent, uid, record, touches } = write;
  const { change, facts, idOf } = rests;
  const { before, after } = change;
  const id = idOf("identity", uid);
  if (verb === "delete") return isOwn(rests, write) ? [] : identityProblems(rests, uid, { takes: "all" });
  const claims = textOf(relationshipOf(record));
  if (verb === "create") {
    const group = idOf("group", parent);
    const isShown = added(before.identities, after.identities).some(
      (one) => one.group === group && textOf(one.relationship) === claims,
    );
    return isShown ? [] : [`identity ${record.name} would be created for a workload that the review does not show`];
  }
  if (!RELATIONSHIPS.some(touches)) return [];
  if (textOf(after.identities.get(id)?.relationship ?? null) !== claims)
    return [`who can assume ${await titleOf(rests, "identity", uid)} would not be what the review shows`];
  return [...(await claimProblems(change, facts, id, uid)), ...(await heldProblems(rests, uid))];
};

const role: Check = async (rests, { verb, parent, uid, record, touches }) => {
  const { change, idOf } = rests;
  const { before, after } = change;
  if (verb === "delete" || !touches("capabilities")) return [];
  const capabilities = capabilitiesIn(record, uid);
  const text = textOf(capabilities);
  if (verb === "create") {
    const group = idOf("group", parent);
    const isShown = added(before.roles, after.roles).some(
      (one) => one.group === group && textOf(one.capabilities) === text,
    );
    return isShown ? [] : [`role ${record.name} would be created with capabilities that the review does not show`];
  }
  if (textOf(after.roles.get(idOf("role", uid))?.capabilities ?? []) !== text)
    return [`${await titleOf(rests, "role", uid)} would get capabilities that the review does not show`];
  return holderProblems(rests, uid, capabilities);
};

const capabilitiesIn = (record: Json, uid: string): readonly string[] => {
  const graph = newGraph();
  addRole(graph, { ...record, uid });
  return graph.roles.get(uid)?.capabilities ?? [];
};

/** Of a role that changes: everyone who holds it. */
const holderProblems = async (rests: Rests, uid: string, capabilities: readonly string[]): Promise<string[]> => {
  const { facts } = rests;
  for (const kind of ["roleBinding", "identityProvider", "groupInvite"] as const)
    await facts.requireListable(kind, parentOf(uid));
  const written = { uid, capabilities };
  const bindings = await facts.bindingsWith(uid);
  const problems = [];
  for (const [holder, own] of Map.groupBy(bindings, (one) => uidIn(one.identity))) {
    problems.push(
      ...(await identityProblems(rests, holder, {
        bound: own.map((one) => ({ ...boundFrom(one), role: uid })),
        written,
      })),
    );
  }
  return [...problems, ...(await reachedPeople(rests, written))];
};

/** `editor for release at platform`, in the API's names. */
const bindingText = async (
  { change: { before, after }, facts, idOf }: Rests,
  { identity, role, group }: Record<"identity" | "role" | "group", string>,
): Promise<string> => {
  const named = (nodes: "identities" | "roles" | "groups", kind: string, uid: string): string | undefined => {
    const id = idOf(kind, uid);
    return (after[nodes].get(id) ?? before[nodes].get(id))?.name;
  };
  const nameOf = async (nodes: "identities" | "roles", kind: "identity" | "role", uid: string): Promise<string> =>
    named(nodes, kind, uid) ?? (await facts.record(kind, uid))[nodes].get(uid)?.name ?? uid;
  const [roleName, name] = [await nameOf("roles", "role", role), await nameOf("identities", "identity", identity)];
  return `${roleName} for ${name} at ${named("groups", "group", group) ?? group}`;
};

export const ACCESS_CHECKS: Readonly<Record<string, Check>> = { roleBinding, identity, role };
