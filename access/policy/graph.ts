// A policy as an access graph, with the policy as the whole truth: what its organization holds and the policy lacks is not in the
// graph. Groups match by their path of names, identities and roles by group and name, built-in roles by name. What exists has
// its uid as id; what does not exist yet, `policy:<kind>:<path>`. Other organizations stay as they are.
import type { Json } from "../../schema/index.ts";
import { suggestion } from "../../schema/nearest.ts";
import { equalityKey } from "../canonical.ts";
import {
  type AccessGraph,
  type BindingNode,
  type GraphBuilder,
  type GroupNode,
  lineageOf,
  type NodeId,
  newGraph,
  organizationsIn,
  type ProviderNode,
} from "../graph/graph.ts";
import {
  type Policy,
  type PolicyBinding,
  type PolicyIdentity,
  type PolicyPeople,
  type PolicyRole,
  ROOT,
} from "./policy.ts";
import type { Mistake, Place } from "./source.ts";
import { inStack, type PolicyStack } from "./stack.ts";

export interface PolicyGraph {
  graph: AccessGraph;
  /** the group that stands for the organization of the policy */
  organization: NodeId;
  /** by path */
  groups: ReadonlyMap<string, NodeId>;
  /** by key */
  identities: ReadonlyMap<string, NodeId>;
  /** by key, and built-in ones that it gives by name */
  roles: ReadonlyMap<string, NodeId>;
  /** what cannot be compared: several live records of one name, and built-in roles that the service lacks */
  mistakes: Mistake[];
}

/** `stack` is what the state of a stack knows of the policy: a record that it has is matched by its uid. */
export const policyGraph = (policy: Policy, live: AccessGraph, stack?: PolicyStack): PolicyGraph => {
  const mistakes: Mistake[] = [];
  const mistake = (path: string, text: string, place?: Place) => void mistakes.push({ path, text, place });

  /** the live record of a name, if there is one; several are a mistake */
  const only = <N extends { id: NodeId }>(found: readonly N[] = [], what: string, path: string, place?: Place) => {
    if (found.length > 1)
      mistake(path, `the API has ${found.length} ${what} of this name: ${found.map(({ id }) => id).join(", ")}`, place);
    return found[0];
  };

  const graph = newGraph();
  const ofStack = live.groups.get(stack?.groups.get(ROOT) ?? "");
  const organization = ofStack ?? organizationOf(policy, live, mistake);
  // What the stack has under another key is not the record of this one.
  const held = new Set([stack?.groups, stack?.identities, stack?.roles].flatMap((uids) => [...(uids?.values() ?? [])]));
  const free = <N extends { id: NodeId }>(nodes: readonly N[] | undefined): readonly N[] | undefined => {
    const left = nodes?.filter(({ id }) => !held.has(id));
    return left?.length === 0 ? undefined : left;
  };
  keepOthers(graph, live, organization?.id);

  /** by path of the policy */
  const groupIds = new Map<string, NodeId>();
  const addGroup = (path: string, node: GroupNode) => {
    groupIds.set(path, node.id);
    graph.groups.set(node.id, node);
  };
  addGroup(
    ROOT,
    organization ?? { id: `policy:group:${ROOT}`, uid: null, name: policy.organization.name ?? ROOT, parent: null },
  );
  const below = indexBy(live.groups.values(), ({ parent, name }) => [parent, name]);
  for (const { path, parent: parentPath, name, was, place } of policy.groups.values()) {
    const parent = groupIds.get(parentPath) as NodeId;
    const named = free(below.get(keyOf(parent, name))) ?? free(below.get(keyOf(parent, was ?? name)));
    const former = was && (parentPath === ROOT ? was : `${parentPath}/${was}`);
    const found =
      inStack(stack?.groups, [path, former], live.groups, parent) ?? only(named, "groups", `groups.${path}`, place);
    const known = found && { ...found, name };
    addGroup(path, known ?? { id: `policy:group:${path}`, uid: null, name, parent });
  }

  const identityIds = new Map<string, NodeId>();
  const liveIdentities = indexBy(live.identities.values(), ({ group, name }) => [group, name]);
  for (const identity of policy.identities.values()) {
    const { key, name, was, relationship, place } = identity;
    const group = groupIds.get(identity.group) as NodeId;
    const named = free(liveIdentities.get(keyOf(group, name))) ?? free(liveIdentities.get(keyOf(group, was ?? name)));
    const known =
      inStack(stack?.identities, [key, was], live.identities, group) ??
      only(named, "identities", `identities.${key}`, place);
    const id = known?.id ?? `policy:identity:${recordPath(identity)}`;
    identityIds.set(key, id);
    graph.identities.set(id, {
      id,
      uid: known?.uid ?? null,
      name,
      group,
      relationship: likeLive(relationship, known?.relationship),
    });
  }

  const roleIds = new Map<string, NodeId>();
  const liveRoles = indexBy(live.roles.values(), ({ group, name }) => [group, name]);
  for (const role of policy.roles.values()) {
    const { key, name, was, capabilities, place } = role;
    const group = groupIds.get(role.group) as NodeId;
    const named = free(liveRoles.get(keyOf(group, name))) ?? free(liveRoles.get(keyOf(group, was ?? name)));
    const known = inStack(stack?.roles, [key, was], live.roles, group) ?? only(named, "roles", `roles.${key}`, place);
    const id = known?.id ?? `policy:role:${recordPath(role)}`;
    roleIds.set(key, id);
    graph.roles.set(id, { id, uid: known?.uid ?? null, name, group, capabilities });
  }
  const builtInNames = [...live.roles.values()].flatMap(({ group, name }) => (group === null ? [name] : []));
  const roleIdOf = ({ role, place }: Pick<PolicyBinding, "role" | "place">): NodeId => {
    const known = roleIds.get(role);
    if (known !== undefined) return known;
    const builtIn = only(liveRoles.get(keyOf(null, role)), "built-in roles", role, place);
    const id = builtIn?.id ?? `policy:role:${role}`;
    if (builtIn === undefined) {
      const names = [...policy.roles.keys(), ...builtInNames];
      mistake(role, `the API shows no built-in role of this name${suggestion(role, names, 3)}`, place);
      graph.roles.set(id, { id, uid: null, name: role, group: null, capabilities: [] });
    }
    roleIds.set(role, id);
    return id;
  };

  const liveBindings = indexBy(live.bindings.values(), ({ group, identity, role }) => [group, identity, role]);
  for (const binding of policy.bindings) {
    const group = groupIds.get(binding.group) as NodeId;
    const identity = identityIds.get(binding.identity) as NodeId;
    const role = roleIdOf(binding);
    const id = `policy:binding:${binding.group}:${binding.role}:${binding.identity}`;
    // A pair may be bound twice, which grants no more than once.
    const known: readonly BindingNode[] = liveBindings.get(keyOf(group, identity, role)) ?? [
      { id, uid: null, group, identity, role },
    ];
    for (const node of known) graph.bindings.set(node.id, node);
  }
  keepPeople(graph, live, (group) => graph.groups.has(group));
  addPolicyPeople(graph, policy, {
    organization: groupIds.get(ROOT) as NodeId,
    roleIdOf: (role, { place }) => roleIdOf({ role, place }),
    ambiguous: ({ provider, place }, found) => only(found, "identity providers", `people.${provider}`, place),
  });
  return {
    graph,
    organization: groupIds.get(ROOT) as NodeId,
    groups: groupIds,
    identities: identityIds,
    roles: roleIds,
    mistakes,
  };
};

const keyOf = (...parts: readonly (string | null)[]): string => JSON.stringify(parts);

const indexBy = <N>(nodes: Iterable<N>, partsOf: (node: N) => readonly (string | null)[]): Map<string, N[]> =>
  Map.groupBy(nodes, (node) => keyOf(...partsOf(node)));

const recordPath = ({ group, key }: PolicyIdentity | PolicyRole): string => (group === ROOT ? key : `${group}/${key}`);

const organizationOf = (
  { organization: { name, uid } }: Policy,
  live: AccessGraph,
  mistake: (path: string, text: string) => void,
): GroupNode | undefined => {
  const roots = organizationsIn(live);
  if (uid !== undefined) {
    const known = live.groups.get(uid);
    if (known === undefined) mistake("organization.uid", `the API shows no organization ${uid}`);
    return known;
  }
  const named = roots.filter((group) => group.name === name);
  if (named.length > 1) {
    const uids = named.map(({ id }) => id).join(", ");
    mistake("organization", `the API has ${named.length} organizations named ${name}: ${uids}; give the uid of one`);
  }
  // An organization that holds a visible group need not be visible itself: its uid stands for its name.
  const unnamed = roots.filter((group) => group.name === group.uid).map(({ id }) => id);
  if (named.length === 0 && unnamed.length > 0)
    mistake("organization", `the API does not show the name of ${unnamed.join(", ")}; give organization: { uid: … }`);
  return named[0];
};

// A policy speaks of one organization. Built-in roles belong to none.
const keepOthers = (graph: GraphBuilder, live: AccessGraph, organization: NodeId | undefined): void => {
  const isOther = (group: NodeId | null): boolean => group === null || lineageOf(live, group).at(-1) !== organization;
  for (const kind of ["identities", "roles", "bindings"] as const)
    for (const [id, node] of live[kind]) if (isOther(node.group)) graph[kind].set(id, node as never);
  for (const [id, node] of live.groups) if (isOther(id)) graph.groups.set(id, node);
};

// The service chooses when static keys expire where the policy does not say, and writes zero values or leaves them out.
const likeLive = (relationship: Json, live: Json | null | undefined): Json => {
  const [[name, own] = []] = Object.entries(relationship) as [string, Json][];
  const held = name === undefined ? undefined : (live?.[name] as Json | undefined);
  if (name === undefined || own === undefined || held === undefined) return relationship;
  const chosen =
    name === "staticKeys" && own.expirationTime === undefined ? { expirationTime: held.expirationTime } : {};
  const filled: Json = { ...own, ...chosen };
  return equalityKey(filled) === equalityKey(held) ? { [name]: held } : { [name]: filled };
};

// The part of a policy's graph that is about people. Identity providers and invites are not the policy's own, so they stay, with the
// roles that they give. The policy says which roles the people of an identity provider of its organization have.

/** Copies what `live` has of people, in the groups where they stay. */
const keepPeople = (graph: GraphBuilder, live: AccessGraph, stay: (group: NodeId) => boolean): void => {
  const keepRole = (id: NodeId | null): void => {
    const role = id === null ? undefined : live.roles.get(id);
    if (role && !graph.roles.has(role.id)) graph.roles.set(role.id, role);
  };
  const kept = new Set<NodeId>();
  for (const [id, node] of live.providers) {
    if (!stay(node.group)) continue;
    kept.add(id);
    graph.providers.set(id, node);
    keepRole(node.defaultRole);
  }
  for (const [id, node] of live.externalGroups) {
    if (!kept.has(node.provider)) continue;
    graph.externalGroups.set(id, node);
    keepRole(node.role);
  }
  for (const [id, node] of live.invites) {
    if (!stay(node.group)) continue;
    graph.invites.set(id, node);
    keepRole(node.role);
  }
};

const NAMED_ONLY = "policy:provider:";

interface Context {
  organization: NodeId;
  roleIdOf(role: string, people: PolicyPeople): NodeId;
  /** several live identity providers have the name */
  ambiguous(people: PolicyPeople, found: readonly ProviderNode[]): void;
}

/** What the policy does not say of an identity provider stays. */
const addPolicyPeople = (graph: GraphBuilder, { people }: Policy, context: Context): void => {
  const { organization, ambiguous } = context;
  for (const one of people.values()) {
    const found = [...graph.providers.values()].filter(
      ({ group, name }) => group === organization && name === one.provider,
    );
    if (found.length > 1) ambiguous(one, found);
    const id = `${NAMED_ONLY}${one.provider}`;
    const unknownFields = { group: organization, signIn: null, defaultRole: null };
    const provider = found[0] ?? { id, uid: null, name: one.provider, ...unknownFields };
    graph.providers.set(provider.id, provider);
    setExternalGroups(graph, provider.id, one, context);
  }
};

const setExternalGroups = (
  graph: GraphBuilder,
  provider: NodeId,
  people: PolicyPeople,
  { organization, roleIdOf }: Context,
): void => {
  const keyOf = (externalGroupId: string, role: NodeId): string => JSON.stringify([externalGroupId, role]);
  const known = new Map(
    [...graph.externalGroups.values()]
      .filter((one) => one.provider === provider)
      .map((one) => [keyOf(one.externalGroupId, one.role), one]),
  );
  for (const { id } of known.values()) graph.externalGroups.delete(id);
  for (const [externalGroupId, roles] of people.externalGroups)
    for (const name of roles) {
      const role = roleIdOf(name, people);
      const id = `policy:external-group:${keyOf(`${people.provider} ${externalGroupId}`, role)}`;
      const node = known.get(keyOf(externalGroupId, role)) ?? {
        id,
        uid: null,
        provider,
        externalGroupId,
        role,
        group: organization,
      };
      graph.externalGroups.set(node.id, node);
    }
};
