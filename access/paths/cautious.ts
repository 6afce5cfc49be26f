// What somebody can come to hold if the service lets callers grant what they do not hold, and if people do their part. The published
// contract excludes neither (docs/contract.md#d21). Nothing that a request does here takes a way from another request, so the search goes
// on from what it has found, the shortest ways first.
import type { Json } from "../../schema/index.ts";
import { type InviteNode, type NodeId, nameOf, type ProviderNode, type RoleNode } from "../graph/graph.ts";
import { type Held, Holdings, join, type Request, wireNames } from "./reached.ts";
import { exchange, type Start } from "./start.ts";
import { placeIn, type World } from "./world.ts";

export interface Search {
  audience: string;
  /** invites that have ended by then are left out */
  nowMs: number;
  /** also paths through an open invite */
  invites: boolean;
  /** steps that all searches may take together */
  budget: { steps: number };
}

type Way = Pick<Held, "requests" | "assumptions">;

export const reachCautiously = (world: World, start: Start, search: Search): Held[] => {
  const { graph, owner } = world;
  const { starter } = start;
  const holdings = new Holdings(world);
  const controlled = new Set<NodeId>();
  const widened = new Map<NodeId, Way>();
  const waiting: Held[][] = [];
  const found: Held[] = [];

  const meet = (held: Held): void => {
    search.budget.steps -= 1;
    if (holdings.hasAll(held.who, held.capabilities, held.group)) return;
    holdings.add(held);
    const cost = held.requests.length;
    waiting[cost] ??= [];
    waiting[cost].push(held);
  };

  const assumptionsOf = (role: NodeId): string[] =>
    world.isRead(role) ? [] : [`role ${nameOf(graph.roles, role)} cannot be read, so it counts as ${owner.name}`];

  const grantedBy = (role: NodeId): ReadonlySet<string> =>
    world.isRead(role) ? world.granted(role) : owner.capabilities;

  const control = (who: NodeId, way: Way): void => {
    if (controlled.has(who)) return;
    controlled.add(who);
    for (const { id, group, role } of world.bindingsOf(who)) {
      const assumptions = [...way.assumptions, ...assumptionsOf(role)];
      meet({ who, group, role, binding: id, capabilities: grantedBy(role), requests: way.requests, assumptions });
      const wide = widened.get(role);
      if (wide) meet({ ...wideHeld(who, group, role, id), ...join(way, wide) });
    }
  };

  const wideHeld = (who: NodeId, group: NodeId, role: NodeId, binding: NodeId) => ({
    ...{ who, group, role, binding },
    capabilities: new Set([...owner.capabilities, ...world.granted(role)]),
  });

  /** Sends a request as an identity; returns the way with it. */
  const send = (way: Way, request: Omit<Request, "after">, assumption = ""): { way: Way; request: Request } => {
    const sent: Request = { ...request, after: way.requests };
    const assumptions = assumption === "" ? way.assumptions : [...new Set([...way.assumptions, assumption])];
    return { way: { requests: [...way.requests, sent], assumptions }, request: sent };
  };

  const bindOwner = (held: Held): void => {
    const { who, group } = held;
    const role = owner.name;
    const { way, request } = send(
      held,
      {
        as: senderOf(who),
        operation: "CreateRoleBinding",
        at: group,
        body: (uidOf) => ({ identityUid: uidOf(who), roleUid: uidOf(owner.id) }),
        why: `${senderText(who)} may create role bindings at ${placeIn(world, group)}, and gives itself ${role} there`,
      },
      FREE,
    );
    meet({ who, group, role: owner.id, binding: request, capabilities: owner.capabilities, ...way });
  };

  const changeBinding = (held: Held): void => {
    const { who, group, binding } = held;
    const role = owner.name;
    const { way } = send(
      held,
      {
        as: senderOf(who),
        operation: "UpdateRoleBinding",
        at: binding,
        body: (uidOf) => ({ roleUid: uidOf(owner.id) }),
        why: `${senderText(who)} may change role bindings at ${placeIn(world, group)}, and changes its own to ${role}`,
      },
      FREE,
    );
    meet({ who, group, role: owner.id, binding, capabilities: owner.capabilities, ...way });
  };

  const widen = (held: Held, role: RoleNode): void => {
    if (widened.has(role.id) || [...owner.capabilities].every((one) => world.granted(role.id).has(one))) return;
    const capabilities = [...new Set([...role.capabilities, ...owner.capabilities])].sort();
    const { way } = send(
      held,
      {
        as: senderOf(held.who),
        operation: "UpdateRole",
        at: role.id,
        body: () => ({ capabilities: wireNames(capabilities) }),
        why: `${senderText(held.who)} may change roles at ${placeIn(world, role.group as NodeId)}, and widens ${role.name} for everyone bound to it`,
      },
      FREE,
    );
    widened.set(role.id, way);
    for (const { id, group, identity } of world.bindingsTo(role.id)) {
      const own = controlled.has(identity) ? holdings.of(identity).find(({ binding }) => binding === id) : undefined;
      if (own) meet({ ...wideHeld(identity, group, role.id, id), ...join(own, way) });
    }
  };

  const takeIdentity = (held: Held, identity: NodeId): void => {
    if (controlled.has(identity)) return;
    // What the identity holds is held already: to take it leads nowhere.
    const isNew = world
      .bindingsOf(identity)
      .some(({ group, role }) => !holdings.hasAll(held.who, grantedBy(role), group));
    if (!isNew) return;
    const changed = send(
      held,
      changeOfClaims(world, held.who, identity, starter.relationship),
      obstacleTo(world, held.who, identity),
    );
    const assumptions = [...changed.way.assumptions, ...(starter.assumption ? [starter.assumption] : [])];
    const assumed = exchange(identity, search.audience, assumeText(world, identity), changed.way.requests);
    control(identity, { requests: [...changed.way.requests, assumed], assumptions: [...new Set(assumptions)] });
  };

  const senderText = (who: NodeId): string => (isPerson(who) ? "the person" : nameOf(graph.identities, who));

  const signIn = (way: Way, provider: ProviderNode, why: string): void => {
    for (const { id, role, group, externalGroupId, provider: own } of graph.externalGroups.values()) {
      if (own !== provider.id) continue;
      const { way: signedIn } = send(
        way,
        {
          as: "workload",
          operation: "ExchangeGet",
          query: (uidOf) => `${new URLSearchParams({ aud: search.audience })}&identity_provider=${uidOf(provider.id)}`,
          body: null,
          why: `a person signs in at ${provider.name} as a member of ${externalGroupId}, which gets ${nameOf(graph.roles, role)}`,
        },
        why,
      );
      const capabilities = grantedBy(role);
      meet({ who: personBy(id), group, role, binding: id, capabilities, ...signedIn });
    }
  };

  const useProvider = (held: Held, provider: ProviderNode): void => {
    const { who } = held;
    const [update, bind, manage, list] = (
      [
        "identity_providers.update",
        "role_bindings.create",
        "identity_providers.scim.manage",
        "identity_providers.list",
      ] as const
    ).map((capability) => holdings.find(who, capability, provider.group));
    if (update && bind) {
      const { way } = send(
        join(update, bind),
        {
          as: senderOf(who),
          operation: "UpdateIdentityProvider",
          at: provider.id,
          body: () => ({ oidc: { issuer: "<issuer of its own>" } }),
          why: `${senderText(who)} may change identity provider ${provider.name}, and lets people of its own issuer sign in`,
        },
        FREE,
      );
      signIn(way, provider, "a person signs in at the issuer");
    }
    if (manage && list) {
      const { way } = send(join(manage, list), {
        as: senderOf(who),
        operation: "iam.IdentityProvidersService/GenerateScimToken",
        at: provider.id,
        body: () => ({}),
        why: `${senderText(who)} may manage the provisioning of ${provider.name}, and puts people into its external groups`,
      });
      signIn(way, provider, "a person signs in whom the provisioning put into the group");
    }
  };

  const accept = (invite: InviteNode): void => {
    const { id, role, group, name } = invite;
    if (role === null) return;
    const { way } = send(
      { requests: [], assumptions: [] },
      {
        as: "workload",
        operation: "auth.Auth/Register",
        body: () => ({ code: `<code of invite ${name}>` }),
        why: `a person who has the code accepts invite ${name}, and gets ${nameOf(graph.roles, role)} at ${placeIn(world, group)}`,
      },
      "a person has the code of the invite, which no list shows",
    );
    meet({ who: personBy(id), group, role, binding: id, capabilities: grantedBy(role), ...way });
  };

  const goOn = (held: Held): void => {
    const { group, capabilities } = held;
    if (capabilities.has("role_bindings.create")) bindOwner(held);
    else if (capabilities.has("role_bindings.update")) changeBinding(held);
    for (const place of world.below(group)) {
      search.budget.steps -= 1;
      if (capabilities.has("roles.update")) for (const role of world.rolesIn(place)) widen(held, role);
      if (capabilities.has("identity.update"))
        for (const { id } of world.boundIn(place)) {
          search.budget.steps -= 1;
          takeIdentity(held, id);
        }
    }
    if (PROVIDER_CAPABILITIES.some((one) => capabilities.has(one)))
      for (const provider of graph.providers.values())
        if (world.lineage(provider.group).includes(group)) useProvider(held, provider);
    if (search.invites && capabilities.has("group_invites.list") && held.requests.length === 0)
      for (const invite of graph.invites.values())
        if (world.lineage(invite.group).includes(group) && isOpen(invite, search.nowMs)) accept(invite);
  };

  for (const [who, requests] of start.controlled) control(who, { requests, assumptions: [] });
  for (const [who, requests] of start.perhaps) control(who, { requests, assumptions: [PERHAPS] });
  for (let cost = 0; cost < waiting.length; cost += 1) {
    const here = waiting[cost] ?? [];
    for (const held of here) {
      if (search.budget.steps < 0) return found;
      found.push(held);
      goOn(held);
    }
  }
  return found;
};

/** Who gets access by the record without being an identity of the graph. */
const personBy = (record: NodeId): NodeId => `person ${record}`;
export const isPerson = (who: NodeId): boolean => who.startsWith("person ");
const senderOf = (who: NodeId): NodeId | "workload" => (isPerson(who) ? "workload" : who);

const PROVIDER_CAPABILITIES = ["identity_providers.update", "role_bindings.create", "identity_providers.scim.manage"];

const FREE = "the service lets a caller grant what it does not hold";
const PERHAPS = "the workload may assume the identity, which its patterns or further claims leave open";

const isOpen = ({ email, expirationTime }: InviteNode, nowMs: number): boolean =>
  email === "" && (expirationTime === null || !(Date.parse(expirationTime) <= nowMs));

/** What has to be so for a change of claims that the caller's own roles may not cover. */
const obstacleTo = (world: World, who: NodeId, identity: NodeId): string => {
  const root = world.root(world.graph.identities.get(identity)?.group ?? "");
  const own = world.bindingsOf(who);
  const holds = (capability: string, group: NodeId): boolean =>
    own.some((one) => world.lineage(group).includes(one.group) && world.granted(one.role).has(capability));
  const isCovered = world
    .bindingsOf(identity)
    .filter(({ group }) => world.root(group) === root)
    .every(({ group, role }) => world.isRead(role) && [...world.granted(role)].every((one) => holds(one, group)));
  if (!isCovered) return FREE;
  return world.isWhole(root) ? "" : "no role binding that is not visible to you is in the way";
};

export const changeOfClaims = (
  { graph }: World,
  who: NodeId,
  identity: NodeId,
  relationship: Json,
): Omit<Request, "after"> => ({
  as: senderOf(who),
  operation: "UpdateIdentity",
  at: identity,
  query: () => `updateMask=${Object.keys(relationship)[0]}`,
  body: () => relationship,
  why: `${nameOf(graph.identities, who)} may change identity ${nameOf(graph.identities, identity)}, and lets the workload assume it`,
});

export const assumeText = ({ graph }: World, identity: NodeId): string =>
  `the workload assumes identity ${nameOf(graph.identities, identity)}`;
