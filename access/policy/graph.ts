// A policy as an access graph in which the policy is complete: records of its organization that the policy lacks are not in the graph.
// Groups match by their path of names, identities and roles by group and name, built-in roles by name. The id of an existing record is its
// uid; of a new one, `policy:<kind>:<path>`. Other organizations do not change.
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
  type PolicyIdentity,
  type PolicyPeople,
  type PolicyRecord,
  type PolicyRole,
  ROOT,
} from "./policy.ts";
import type { Mistake, Place } from "./source.ts";
import { inStack, type PolicyStack } from "./stack.ts";

export type PolicyGraph = ReturnType<typeof policyGraph>;

/** `stack`: the records of the policy in the state of a stack; each is matched by its uid. */
export const policyGraph = (policy: Policy, live: AccessGraph, stack?: PolicyStack) => {
  /** records that cannot be compared: several live records of one name, and built-in roles that the service lacks */
  const mistakes: Mistake[] = [];
  const mistake = (path: string, text: string, place?: Place) => void mistakes.push({ path, text, place });

  /** the only live record of a name, if there is one; several are a mistake */
  const only = <N extends { id: NodeId }>(found: readonly N[] = [], what: string, path: string, place?: Place) => {
    if (found.length > 1)
      mistake(path, `the API has ${found.length} ${what} of this name: ${found.map(({ id }) => id).join(", ")}`, place);
    return found[0];
  };

  const graph = newGraph();
  const ofStack = live.groups.get(stack?.groups.get(ROOT) ?? "");
  const organization = ofStack ?? organizationOf(policy, live, mistake);
  // A record that the stack has under another key does not match this one.
  const held = new Set([stack?.groups, stack?.identities, stack?.roles].flatMap((uids) => [...(uids?.values() ?? [])]));
  keepOthers(graph, live, organization?.id);

  /** The live record that a policy means by a key: from the stack, by its name, or by its former key. */
  const matcherOf = <N extends { id: NodeId; name: string }>(
    kind: keyof PolicyStack,
    live: ReadonlyMap<NodeId, N>,
    parentOf: (node: N) => NodeId | null,
  ) => {
    const byName = indexBy(live.values(), (node) => [parentOf(node), node.name]);
    const free = (parent: NodeId, name: string): readonly N[] | undefined => {
      const left = byName.get(keyOf(parent, name))?.filter(({ id }) => !held.has(id));
      return left?.length === 0 ? undefined : left;
    };
    return ({ name, was = name, place }: PolicyRecord, keys: readonly [string, string?], parent: NodeId) =>
      inStack(stack?.[kind], keys, live, parent) ??
      only(free(parent, name) ?? free(parent, was), kind, `${kind}.${keys[0]}`, place);
  };

  /** by path of the policy */
  const groupIds = new Map<string, NodeId>();
  const addGroup = (path: string, node: GroupNode) => {
    groupIds.set(path, node.id);
    graph.groups.set(node.id, node);
  };
  const newGroup = (path: string, name: string, parent: NodeId | null) => ({
    ...{ id: `policy:group:${path}`, uid: null, name, parent },
  });
  addGroup(ROOT, organization ?? newGroup(ROOT, policy.organization.name ?? ROOT, null));
  const matchGroup = matcherOf("groups", live.groups, ({ parent }) => parent);
  for (const group of policy.groups.values()) {
    const { path, name, was } = group;
    const parent = groupIds.get(group.parent) as NodeId;
    const former = was && (group.parent === ROOT ? was : `${group.parent}/${was}`);
    const known = matchGroup(group, [path, former], parent);
    addGroup(path, known ? { ...known, name } : newGroup(path, name, parent));
  }

  /** by key */
  const identityIds = new Map<string, NodeId>();
  const matchIdentity = matcherOf("identities", live.identities, ({ group }) => group);
  for (const identity of policy.identities.values()) {
    const { key, name, was, relationship } = identity;
    const group = groupIds.get(identity.group) as NodeId;
    const known = matchIdentity(identity, [key, was], group);
    const { id, uid } = known ?? { id: `policy:identity:${recordPath(identity)}`, uid: null };
    identityIds.set(key, id);
    graph.identities.set(id, { id, uid, name, group, relationship: likeLive(relationship, known?.relationship) });
  }

  /** by key; built-in roles that the policy gives, by name */
  const roleIds = new Map<string, NodeId>();
  const matchRole = matcherOf("roles", live.roles, ({ group }) => group);
  for (const role of policy.roles.values()) {
    const { key, name, was, capabilities } = role;
    const group = groupIds.get(role.group) as NodeId;
    const { id, uid } = matchRole(role, [key, was], group) ?? { id: `policy:role:${recordPath(role)}`, uid: null };
    roleIds.set(key, id);
    graph.roles.set(id, { id, uid, name, group, capabilities });
  }
  const builtIn = Map.groupBy(
    [...live.roles.values()].filter(({ group }) => group === null),
    ({ name }) => name,
  );
  const roleIdOf = (role: string, place: Place | undefined) => {
    const known = roleIds.get(role);
    if (known !== undefined) return known;
    const id = only(builtIn.get(role), "built-in roles", role, place)?.id ?? `policy:role:${role}`;
    if (!builtIn.has(role)) {
      const names = [...policy.roles.keys(), ...builtIn.keys()];
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
    const role = roleIdOf(binding.role, binding.place);
    const id = `policy:binding:${binding.group}:${binding.role}:${binding.identity}`;
    // A pair may be bound twice, which grants nothing more.
    const known: readonly BindingNode[] = liveBindings.get(keyOf(group, identity, role)) ?? [
      { id, uid: null, group, identity, role },
    ];
    for (const node of known) graph.bindings.set(node.id, node);
  }
  const root = groupIds.get(ROOT) as NodeId;
  keepPeople(graph, live);
  for (const people of policy.people.values()) {
    const { provider: name, place } = people;
    const named = [...graph.providers.values()].filter((one) => one.group === root && one.name === name);
    const provider: ProviderNode = only(named, "identity providers", `people.${name}`, place) ?? {
      ...{ id: `policy:provider:${name}`, uid: null, name },
      ...{ group: root, signIn: null, defaultRole: null },
    };
    graph.providers.set(provider.id, provider);
    setExternalGroups(graph, provider, people, (role) => roleIdOf(role, place));
  }
  return { graph, organization: root, groups: groupIds, identities: identityIds, roles: roleIds, mistakes };
};

const keyOf = (...parts: readonly (string | null)[]) => JSON.stringify(parts);

const indexBy = <N>(nodes: Iterable<N>, partsOf: (node: N) => readonly (string | null)[]) =>
  Map.groupBy(nodes, (node) => keyOf(...partsOf(node)));

const recordPath = ({ group, key }: PolicyIdentity | PolicyRole) => (group === ROOT ? key : `${group}/${key}`);

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
  // An organization may not be visible although one of its groups is: its uid replaces its name.
  const unnamed = roots.filter((group) => group.name === group.uid).map(({ id }) => id);
  if (named.length === 0 && unnamed.length > 0)
    mistake("organization", `the API does not show the name of ${unnamed.join(", ")}; give organization: { uid: … }`);
  return named[0];
};

// A policy describes one organization. Built-in roles belong to none.
const keepOthers = (graph: GraphBuilder, live: AccessGraph, organization: NodeId | undefined) => {
  const isOther = (group: NodeId | null) => group === null || lineageOf(live, group).at(-1) !== organization;
  for (const kind of ["identities", "roles", "bindings"] as const)
    for (const [id, node] of live[kind]) if (isOther(node.group)) graph[kind].set(id, node as never);
  for (const [id, node] of live.groups) if (isOther(id)) graph.groups.set(id, node);
};

// If the policy does not set it, the service chooses when static keys expire, and writes or omits zero values.
const likeLive = (relationship: Json, live: Json | null | undefined): Json => {
  const [[name, own] = []] = Object.entries(relationship) as [string, Json][];
  const held = name === undefined ? undefined : (live?.[name] as Json | undefined);
  if (name === undefined || own === undefined || held === undefined) return relationship;
  const chosen =
    name === "staticKeys" && own.expirationTime === undefined ? { expirationTime: held.expirationTime } : {};
  const filled: Json = { ...own, ...chosen };
  return equalityKey(filled) === equalityKey(held) ? { [name]: held } : { [name]: filled };
};

// Identity providers and invites do not belong to the policy, so they are kept, with the roles that they give. The policy sets the roles of
// the people of an identity provider of its organization.

/** Copies the people of `live`, in the groups that still exist. */
const keepPeople = (graph: GraphBuilder, live: AccessGraph): void => {
  const keepRole = (id: NodeId | null) => {
    const role = live.roles.get(id ?? "");
    if (role && !graph.roles.has(role.id)) graph.roles.set(role.id, role);
  };
  for (const [id, node] of live.providers) {
    if (!graph.groups.has(node.group)) continue;
    graph.providers.set(id, node);
    keepRole(node.defaultRole);
  }
  for (const [id, node] of live.externalGroups) {
    if (!graph.providers.has(node.provider)) continue;
    graph.externalGroups.set(id, node);
    keepRole(node.role);
  }
  for (const [id, node] of live.invites) {
    if (!graph.groups.has(node.group)) continue;
    graph.invites.set(id, node);
    keepRole(node.role);
  }
};

/** Replaces the external groups of an identity provider with those of the policy. The rest of the provider is kept. */
const setExternalGroups = (
  graph: GraphBuilder,
  { id: provider, group }: ProviderNode,
  people: PolicyPeople,
  roleIdOf: (role: string) => NodeId,
): void => {
  const own = [...graph.externalGroups.values()].filter((one) => one.provider === provider);
  const known = new Map(own.map((one) => [keyOf(one.externalGroupId, one.role), one]));
  for (const { id } of own) graph.externalGroups.delete(id);
  for (const [externalGroupId, roles] of people.externalGroups)
    for (const role of roles.map(roleIdOf)) {
      const id = `policy:external-group:${keyOf(`${people.provider} ${externalGroupId}`, role)}`;
      const added = { id, uid: null, provider, externalGroupId, role, group };
      const node = known.get(keyOf(externalGroupId, role)) ?? added;
      graph.externalGroups.set(node.id, node);
    }
};
