// Whether a seal contains what a run is about to do. A step is a resource with its inputs; a write is a request. A write of access is
// compared with the API as it is then: with the roles, the claims and the role bindings that it rests on.
import { type Json, type OperationName, parentOf } from "../../schema/index.ts";
import { type AccessGraph, lineageOf, type NodeId, newGraph } from "../graph/graph.ts";
import {
  addBinding,
  addExternalGroup,
  addGroup,
  addInvite,
  addProvider,
  addRole,
  RELATIONSHIPS,
  relationshipOf,
} from "../graph/live-record.ts";
import { textOf } from "../graph/same.ts";
import { type Change, changeIn, type IdOf } from "./change.ts";
import { type Facts, uidIn } from "./facts.ts";
import { claimProblems, heldProblems, identityProblems } from "./identity-check.ts";
import { differingInputs } from "./inputs.ts";
import { ownedPlace, ownersAt } from "./owners.ts";
import { reachedPeople, roleProblems, rolesOfPeople, signInProblems, unknownMappings } from "./people-check.ts";
import type { Seal, Step } from "./seal.ts";
import { type Write, writesOf } from "./writes.ts";

export interface Judge {
  /** What differs from the seal in a step: `resource` is `project/stack/type::name`, as in the keys of the provider. */
  step(resource: string, op: "create" | "update", inputs: Json): readonly string[];
  /** The same in a request, which is about to be sent. */
  request(operation: OperationName, request: Json): Promise<readonly string[]>;
  /** The same in a record that a resource adopts. */
  adoption(kind: string, uid: string): Promise<readonly string[]>;
  /** What comes after reads the facts again. */
  forget(): void;
}

/** `resourceOf` is the same of a URN. */
export const judgeWith = (seal: Seal, facts: Facts, idOf: IdOf, resourceOf: (urn: string) => string): Judge => {
  const change = changeIn(seal);
  const steps = new Map(seal.steps.map((step) => [resourceOf(step.urn), step]));
  const deletes = new Set(seal.deletes);
  const checks = new Map<string, Promise<readonly string[]>>();
  // Each is asked once: before the first write that rests on it.
  const once = (key: string, check: () => Promise<readonly string[]>): Promise<readonly string[]> => {
    const found = checks.get(key) ?? check();
    checks.set(key, found);
    found.catch(() => checks.delete(key));
    return found;
  };
  const identity = (uid: string, written?: NodeId) =>
    once(`identity ${uid} ${written ?? ""}`, () => identityProblems(change, facts, idOf, uid, written));
  const role = (uid: string) => once(`role ${uid}`, () => roleProblems(change, facts, idOf, uid));

  const byUid = new Map(
    seal.steps.flatMap((step) => (step.uid === undefined ? [] : [[`${step.kind} ${step.uid}`, step] as const])),
  );
  const byUrn = new Map(seal.steps.map((step) => [step.urn, step]));
  /** What the seal does with the record: by its uid, or as the one that a resource has created. */
  const stepOf = (kind: string, uid: string): Step | undefined =>
    byUid.get(`${kind} ${uid}`) ?? byUrn.get(idOf(kind, uid));

  /** What the change itself has created may go again, as an invite whose code was lost. Tags go with their repo. */
  const isDeleted = (kind: string, uid: string): boolean =>
    deletes.has(`${kind} ${uid}`) ||
    idOf(kind, uid) !== uid ||
    (kind === "tag" && deletes.has(`repo ${parentOf(uid)}`));

  const parts: Parts = { change, facts, idOf, identity, role };

  const writeProblems = async (write: Write): Promise<readonly string[]> => {
    const { kind, verb, uid, word } = write;
    if (verb === "delete" && !isDeleted(kind, uid)) return [`${word} ${uid} would be deleted`];
    if (verb === "update") {
      const step = stepOf(kind, uid);
      const isShown = step && (step.op === "update" || idOf(kind, uid) !== uid || isNew(step));
      if (!isShown) return [`${word} ${uid} would be changed`];
    }
    const own = await OF_KIND[kind]?.(parts, write);
    if (own) return own;
    if (verb !== "create") return [];
    const place = placeId(idOf, write.parent);
    const isShown = seal.steps.some((step) => step.kind === kind && isNew(step) && placeIn(step) === place);
    return isShown ? [] : [`a ${word} would be created in ${write.parent}`];
  };

  return {
    step: (resource, op, inputs) => {
      const step = steps.get(resource);
      const name = resource.split("/").slice(2).join("/").replace("::", " ");
      if (!step?.inputs) return [`${name} is no resource that the review shows`];
      if (op === "create" && !isNew(step)) return [`${name} would be created, and the review shows that it exists`];
      const pointers = differingInputs(step.inputs, inputs, (uid) => idOf(undefined, uid));
      return pointers.map(
        (pointer) => `${name}: ${pointer.slice(1).replaceAll("/", ".")} is not what the review shows`,
      );
    },
    request: async (operation, request) => {
      const writes = writesOf(operation, request);
      if (writes === undefined) return [];
      if (writes === "unknown") return [`${operation} is not a method that a seal can contain`];
      return (await Promise.all(writes.map(writeProblems))).flat();
    },
    forget: () => {
      facts.forget();
      checks.clear();
    },
    adoption: async (kind, uid) => {
      const { [uid]: owners } = seal.owners;
      if (!owners) return [`${kind} ${uid} would be adopted`];
      return [...(await ownerProblems(parts, kind, uid, owners)), ...(await adoptedProblems(parts, kind, uid))];
    },
  };
};

interface Parts {
  change: Change;
  facts: Facts;
  idOf: IdOf;
  /** `written`: a role that the request is about to write */
  identity(uid: string, written?: NodeId): Promise<readonly string[]>;
  role(uid: string): Promise<readonly string[]>;
}

const isNew = ({ op }: Step): boolean => op === "create" || op === "replace";

const placeId = (idOf: IdOf, parent: string): string => (parent === "" ? "" : idOf(undefined, parent));

const placeIn = ({ inputs }: Step): string => String(inputs?.created["/parent"] ?? inputs?.values["/parent"] ?? "");

/** New nodes of the seal. */
const added = <T extends { id: NodeId }>(before: ReadonlyMap<NodeId, T>, after: ReadonlyMap<NodeId, T>): T[] =>
  [...after.values()].filter(({ id }) => !before.has(id));

type Check = (parts: Parts, write: Write) => Promise<readonly string[] | undefined>;

/** What a write does to access. Undefined: nothing beyond what the step says. */
const OF_KIND: Readonly<Record<string, Check>> = {
  roleBinding: async (parts, { verb, parent, uid, record }) => {
    const { change, idOf, facts, identity, role } = parts;
    const { before, after } = change;
    if (verb === "delete") {
      const known = before.bindings.get(uid);
      const now = (await facts.record("roleBinding", uid)).bindings.get(uid);
      if (!now) return [];
      if (now.identity !== known?.identity) return [`role binding ${uid} is of another identity than the review shows`];
      return identity(known.identity);
    }
    // An update may change one of the two only: the other one is as the API has it now.
    const now = verb === "update" ? (await facts.record("roleBinding", uid)).bindings.get(uid) : undefined;
    const given = (name: "identityUid" | "roleUid", other = ""): string =>
      typeof record[name] === "string" ? (record[name] as string) : other;
    const [identityUid, roleUid] = [given("identityUid", now?.identity), given("roleUid", now?.role)];
    const binding = {
      group: idOf("group", verb === "create" ? parent : parentOf(uid)),
      identity: idOf("identity", identityUid),
      role: idOf("role", roleUid),
    };
    const isShown = [...after.bindings.values()].some(
      (one) =>
        one.group === binding.group &&
        one.identity === binding.identity &&
        one.role === binding.role &&
        (verb === "create" ? !before.bindings.has(one.id) : one.id === uid),
    );
    if (!isShown)
      return [`${await bindingText(parts, { identityUid, roleUid }, parent || parentOf(uid))} would be granted`];
    return [
      ...(await identity(identityUid)),
      // An update takes it from this one.
      ...(now && now.identity !== identityUid ? await identity(now.identity) : []),
      // A role that exists is part of the identity's rows.
      ...(binding.role === roleUid ? [] : await role(roleUid)),
    ];
  },
  identity: async ({ change, facts, idOf, identity }, { verb, parent, uid, record, touches }) => {
    const { before, after } = change;
    if (verb === "delete") return identity(uid);
    const claims = textOf(relationshipOf(record));
    if (verb === "create") {
      const group = idOf("group", parent);
      const isShown = added(before.identities, after.identities).some(
        (one) => one.group === group && textOf(one.relationship) === claims,
      );
      return isShown ? [] : [`identity ${record.name} would be created for a workload that the review does not show`];
    }
    if (!RELATIONSHIPS.some(touches)) return [];
    const id = idOf("identity", uid);
    if (textOf(after.identities.get(id)?.relationship ?? null) !== claims)
      return [`who can assume identity ${uid} would not be what the review shows`];
    return [...(await claimProblems(change, facts, id, uid)), ...(await heldProblems(change, facts, idOf, uid))];
  },
  role: async (parts, { verb, parent, uid, record, touches }) => {
    const { change, idOf } = parts;
    const { before, after } = change;
    if (verb === "delete" || !touches("capabilities")) return [];
    const capabilities = textOf(roleIn(record, uid).capabilities);
    if (verb === "create") {
      const group = idOf("group", parent);
      const isShown = added(before.roles, after.roles).some(
        (one) => one.group === group && textOf(one.capabilities) === capabilities,
      );
      return isShown ? [] : [`role ${record.name} would be created with capabilities that the review does not show`];
    }
    if (textOf(after.roles.get(idOf("role", uid))?.capabilities ?? []) !== capabilities)
      return [`role ${uid} would get capabilities that the review does not show`];
    return holderProblems(parts, uid);
  },
  identityProvider: async (parts, { verb, parent, uid, record, touches }) => {
    const { change, facts, idOf, role } = parts;
    const { before, after } = change;
    // Its mappings go with it.
    if (verb === "delete") return unknownMappings(change, facts, uid);
    const given = peopleNode("providers", record, parent || parentOf(uid));
    const roleProblem = given.defaultRole ? await role(given.defaultRole) : [];
    const defaultRole = given.defaultRole && idOf("role", given.defaultRole);
    const agrees = (one: { signIn: unknown; defaultRole: NodeId | null }): boolean =>
      (!touches("oidc") || textOf(one.signIn) === textOf(given.signIn)) &&
      (!touches("defaultRole") || (one.defaultRole ?? null) === (defaultRole ?? null));
    if (verb === "create") {
      const group = idOf("group", parent);
      const isShown = added(before.providers, after.providers).some((one) => one.group === group && agrees(one));
      return isShown
        ? roleProblem
        : [`identity provider ${record.name} would be created for people that the review does not show`];
    }
    const id = idOf("identityProvider", uid);
    const shown = after.providers.get(id);
    if (!shown || !agrees(shown))
      return [`the people of identity provider ${uid} would not be those that the review shows`];
    const signIn = await signInProblems(change, facts, idOf, uid);
    if (!touches("oidc")) return [...roleProblem, ...signIn];
    // Other people sign in, and get every role that the provider gives.
    const roles = [];
    for (const one of await rolesOfPeople(facts, uid)) roles.push(...(await role(one)));
    return [...roleProblem, ...signIn, ...roles, ...(await unknownMappings(change, facts, uid))];
  },
  externalGroupRoleMapping: async ({ change, facts, idOf, role }, { verb, parent, record }) => {
    const { before, after } = change;
    if (verb !== "create") return [];
    const given = peopleNode("externalGroups", record, parent);
    const [provider, roleId, group] = [
      idOf("identityProvider", parent),
      idOf("role", given.role),
      idOf("group", given.group),
    ];
    const isShown = added(before.externalGroups, after.externalGroups).some(
      (one) =>
        one.provider === provider &&
        one.externalGroupId === given.externalGroupId &&
        one.role === roleId &&
        one.group === group,
    );
    if (!isShown) return [`external group ${given.externalGroupId} would get a role that the review does not show`];
    return [...(await role(given.role)), ...(await signInProblems(change, facts, idOf, parent))];
  },
  groupInvite: async ({ change, idOf, role }, { verb, parent, record }) => {
    const { before, after } = change;
    if (verb !== "create") return [];
    const given = peopleNode("invites", record, parent);
    const [group, roleId] = [idOf("group", parent), given.role && idOf("role", given.role)];
    const isShown = added(before.invites, after.invites).some(
      (one) =>
        one.group === group && one.role === roleId && one.email === given.email && one.singleUse === given.singleUse,
    );
    if (!isShown) return ["an invite would be created that the review does not show"];
    return given.role ? role(given.role) : [];
  },
};

const roleIn = (record: Json, uid: string) => {
  const graph = newGraph();
  addRole(graph, { ...record, uid });
  return graph.roles.get(uid) as NonNullable<ReturnType<(typeof graph.roles)["get"]>>;
};

const ADD = { providers: addProvider, externalGroups: addExternalGroup, invites: addInvite } as const;

/** The node of a record that does not exist yet, in this place. */
const peopleNode = <K extends keyof typeof ADD>(kind: K, record: Json, parent: string) => {
  const graph = newGraph();
  const uid = `${parent}/${"0".repeat(16)}`;
  ADD[kind](graph, { ...record, uid });
  type Node = AccessGraph[K] extends ReadonlyMap<NodeId, infer N> ? N : never;
  return graph[kind].get(uid) as Node;
};

/** Of a role that changes: everyone who holds it. */
const holderProblems = async ({ change, facts, idOf, identity }: Parts, uid: string): Promise<readonly string[]> => {
  for (const kind of ["roleBinding", "identityProvider", "groupInvite"] as const)
    await facts.requireListable(kind, parentOf(uid));
  const bindings = await facts.bindingsWith(uid);
  const holders = new Set(bindings.map(({ identity: holder }) => uidIn(holder)));
  const problems = [];
  for (const holder of holders) problems.push(...(await identity(holder, idOf("role", uid))));
  return [...problems, ...(await reachedPeople(change, facts, idOf("role", uid)))];
};

/** Who may change an adopted record must be those who could when it was reviewed. */
const ownerProblems = async (
  { facts }: Parts,
  kind: string,
  uid: string,
  owners: readonly string[],
): Promise<string[]> => {
  const place = ownedPlace(kind, uid);
  const graph = newGraph();
  addGroup(graph, place);
  for (const group of lineageOf(graph, place))
    for (const record of await facts.bindingsAt(group)) addBinding(graph, record);
  for (const { role } of graph.bindings.values()) {
    const node = (await facts.record("role", role)).roles.get(role);
    if (node) graph.roles.set(role, node);
  }
  return ownersAt(graph, place)
    .filter((one) => !owners.includes(one))
    .map((one) => `identity ${one} may give access where ${uid} is, and could not when it was reviewed`);
};

/** What an adopted record gives must be what the review shows. Whatever a role grants, its update is judged by itself. */
const adoptedProblems = async (parts: Parts, kind: string, uid: string): Promise<readonly string[]> => {
  const { change, facts, idOf } = parts;
  switch (kind) {
    case "identity":
      return claimProblems(change, facts, uid, uid);
    case "roleBinding": {
      const now = (await facts.record("roleBinding", uid)).bindings.get(uid);
      const shown = change.before.bindings.get(uid);
      const isSame = now && shown && now.identity === shown.identity && now.role === shown.role;
      return !now || isSame ? [] : [`role binding ${uid} grants something else than the review shows`];
    }
    case "identityProvider":
      return [...(await signInProblems(change, facts, idOf, uid)), ...(await unknownMappings(change, facts, uid))];
    default:
      return [];
  }
};

/** `editor for release at platform`, in the API's names. */
const bindingText = async (
  { change: { before, after }, facts, idOf }: Parts,
  { identityUid, roleUid }: Json,
  group: string,
): Promise<string> => {
  const named = (nodes: "identities" | "roles" | "groups", kind: string, uid: unknown): string | undefined => {
    const id = idOf(kind, String(uid));
    return (after[nodes].get(id) ?? before[nodes].get(id))?.name;
  };
  const nameOf = async (nodes: "identities" | "roles", kind: "identity" | "role", uid: unknown): Promise<string> =>
    named(nodes, kind, uid) ?? (await facts.record(kind, String(uid)))[nodes].get(String(uid))?.name ?? String(uid);
  const [role, identity] = [
    await nameOf("roles", "role", roleUid),
    await nameOf("identities", "identity", identityUid),
  ];
  return `${role} for ${identity} at ${named("groups", "group", group) ?? group}`;
};
