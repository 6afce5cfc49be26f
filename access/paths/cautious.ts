// The access that someone can reach if the service lets callers grant access that they do not hold, and if people do their part. The
// published contract excludes neither (docs/internals/contract.md#d21). No request here blocks another one, so the search continues from its results,
// the shortest ways first.
import type { InviteNode, NodeId, ProviderNode, RoleNode } from "../graph/graph.ts";
import { isOpen } from "../graph/people.ts";
import {
  type Held,
  holdingsIn,
  isPerson,
  join,
  NO_REQUESTS,
  personBy,
  type Request,
  send,
  senderOf,
  type Way,
  wireNames,
} from "./reached.ts";
import { type Start, takeOver } from "./start.ts";
import type { World } from "./world.ts";

export interface Search {
  audience: string;
  /** invites that have ended by then are left out */
  nowMs: number;
  /** also finds paths through an open invite */
  invites: boolean;
  /** total steps of all searches */
  budget: { steps: number };
}

/** A grant of a role at a group. */
type Given = Pick<Held, "group" | "role"> & { id: Held["binding"] };

/** The holders and their access, by the shortest ways, and the starting points of the search. */
const holdersIn = (world: World, budget: Search["budget"]) => {
  const { owner, nameOf } = world;
  const holdings = holdingsIn(world);
  const controlled = new Set<NodeId>();
  const widened = new Map<NodeId, Way>();
  /** by the number of their requests */
  const waiting: Held[][] = [];

  const grantedBy = (role: NodeId) => (world.isRead(role) ? world.granted(role) : owner.capabilities);

  const hold = (who: NodeId, { id, group, role }: Given, way: Way, capabilities = grantedBy(role)) => {
    budget.steps -= 1;
    if (holdings.hasAll(who, capabilities, group)) return;
    const { requests, assumptions } = way;
    const held: Held = { who, group, role, binding: id, capabilities, requests, assumptions, assumes: "cautious" };
    holdings.add(held);
    waiting[requests.length] ??= [];
    waiting[requests.length]?.push(held);
  };

  const wideBy = (role: NodeId) => owner.capabilities.union(world.granted(role));

  const control = (who: NodeId, { requests, assumptions }: Way) => {
    if (controlled.has(who)) return;
    controlled.add(who);
    for (const binding of world.bindingsOf(who)) {
      const { role } = binding;
      const unread = world.isRead(role) ? [] : [`role ${nameOf(role)} cannot be read, so it counts as ${owner.name}`];
      hold(who, binding, { requests, assumptions: [...assumptions, ...unread] });
      const wide = widened.get(role);
      if (wide) hold(who, binding, join({ requests, assumptions }, wide), wideBy(role));
    }
  };
  return { holdings, controlled, widened, waiting, grantedBy, hold, wideBy, control };
};

export const reachCautiously = (world: World, start: Start, { audience, nowMs, invites, budget }: Search): Held[] => {
  const { owner, nameOf, placeOf } = world;
  const { holdings, controlled, widened, waiting, grantedBy, hold, wideBy, control } = holdersIn(world, budget);

  /** A request that `who` may send for itself; `may` describes it, after the name of `who`. */
  const sendAs = (
    who: NodeId,
    way: Way,
    request: Omit<Request, "after" | "as" | "why">,
    may: string,
    assumption = FREE,
  ): Way => {
    const name = isPerson(who) ? "the person" : nameOf(who);
    return send(way, { ...request, as: senderOf(who), why: `${name} may ${may}` }, assumption);
  };

  const becomeOwner = (held: Held): void => {
    const { who, group, binding, capabilities } = held;
    const { id, name, capabilities: all } = owner;
    if (capabilities.has("role_bindings.create")) {
      const body: Request["body"] = (uidOf) => ({ identityUid: uidOf(who), roleUid: uidOf(id) });
      const may = `create role bindings at ${placeOf(group)}, and gives itself ${name} there`;
      const way = sendAs(who, held, { operation: "CreateRoleBinding", at: group, body }, may);
      hold(who, { id: way.requests.at(-1) as Request, group, role: id }, way, all);
    } else if (capabilities.has("role_bindings.update")) {
      const body: Request["body"] = (uidOf) => ({ roleUid: uidOf(id) });
      const may = `change role bindings at ${placeOf(group)}, and changes its own to ${name}`;
      const way = sendAs(who, held, { operation: "UpdateRoleBinding", at: binding, body }, may);
      hold(who, { id: binding, group, role: id }, way, all);
    }
  };

  const widen = (held: Held, { id, name, group }: RoleNode): void => {
    if (widened.has(id) || owner.capabilities.isSubsetOf(world.granted(id))) return;
    const capabilities = wideBy(id);
    const body = () => ({ capabilities: wireNames([...capabilities].sort()) });
    const may = `change roles at ${placeOf(group as NodeId)}, and widens ${name} for everyone bound to it`;
    const way = sendAs(held.who, held, { operation: "UpdateRole", at: id, body }, may);
    widened.set(id, way);
    for (const binding of world.bindingsTo(id)) {
      const { identity } = binding;
      const own = holdings.of(identity).find((one) => one.binding === binding.id);
      if (own) hold(identity, binding, join(own, way), capabilities);
    }
  };

  const takeIdentity = (held: Held, identity: NodeId) => {
    if (controlled.has(identity)) return;
    const { who } = held;
    // If `who` already holds all access of the identity, taking it gains nothing.
    const isNew = world.bindingsOf(identity).some(({ group, role }) => !holdings.hasAll(who, grantedBy(role), group));
    if (!isNew) return;
    const obstacle = obstacleTo(world, who, identity);
    control(identity, takeOver(world, start.starter, audience, { who, identity }, held, obstacle));
  };

  const signIn = (way: Way, provider: ProviderNode, assumption: string): void => {
    for (const mapping of world.graph.externalGroups.values()) {
      if (mapping.provider !== provider.id) continue;
      const exchange: Omit<Request, "after"> = {
        as: "workload",
        operation: "ExchangeGet",
        query: (uidOf) => `${new URLSearchParams({ aud: audience })}&identity_provider=${uidOf(provider.id)}`,
        body: null,
        why: `a person signs in at ${provider.name} as a member of ${mapping.externalGroupId}, which gets ${nameOf(mapping.role)}`,
      };
      hold(personBy(mapping.id), mapping, send(way, exchange, assumption));
    }
  };

  const useProvider = ({ who }: Held, provider: ProviderNode): void => {
    const { id, name, group } = provider;
    const waysBy = (...capabilities: readonly string[]): Way | undefined => {
      const found = capabilities.map((one) => holdings.find(who, one, group));
      return found.includes(undefined) ? undefined : join(...found);
    };
    const update = waysBy("identity_providers.update", "role_bindings.create");
    if (update) {
      const body: Request["body"] = () => ({ oidc: { issuer: "<issuer of its own>" } });
      const may = `change identity provider ${name}, and lets people of its own issuer sign in`;
      const way = sendAs(who, update, { operation: "UpdateIdentityProvider", at: id, body }, may);
      signIn(way, provider, "a person signs in at the issuer");
    }
    const manage = waysBy("identity_providers.scim.manage", "identity_providers.list");
    if (manage) {
      const generate = {
        operation: "iam.IdentityProvidersService/GenerateScimToken",
        at: id,
        body: () => ({}),
      } as const;
      const may = `manage the provisioning of ${name}, and puts people into its external groups`;
      const way = sendAs(who, manage, generate, may, "");
      signIn(way, provider, "a person signs in whom the provisioning put into the group");
    }
  };

  const accept = ({ id, role, group, name }: InviteNode) => {
    if (role === null) return;
    const register: Omit<Request, "after"> = {
      as: "workload",
      operation: "auth.Auth/Register",
      body: () => ({ code: `<code of invite ${name}>` }),
      why: `a person who has the code accepts invite ${name}, and gets ${nameOf(role)} at ${placeOf(group)}`,
    };
    const assumption = "a person has the code of the invite, which no list shows";
    hold(personBy(id), { id, role, group }, send(NO_REQUESTS, register, assumption));
  };

  const goOn = (held: Held): void => {
    const { group, capabilities } = held;
    const isAbove = (one: { group: NodeId }) => world.lineage(one.group).includes(group);
    becomeOwner(held);
    for (const place of world.below(group)) {
      budget.steps -= 1;
      if (capabilities.has("roles.update")) for (const role of world.rolesIn(place)) widen(held, role);
      if (capabilities.has("identity.update"))
        for (const { id } of world.boundIn(place)) {
          budget.steps -= 1;
          takeIdentity(held, id);
        }
    }
    if (PROVIDER_CAPABILITIES.some((one) => capabilities.has(one)))
      for (const provider of world.graph.providers.values()) if (isAbove(provider)) useProvider(held, provider);
    if (invites && capabilities.has("group_invites.list") && held.requests.length === 0)
      for (const invite of world.graph.invites.values())
        if (isAbove(invite) && invite.email === "" && isOpen(invite, nowMs)) accept(invite);
  };

  // Certain starts come first.
  const starts = [...start.controlled].sort(([, a], [, b]) => a.assumptions.length - b.assumptions.length);
  for (const [who, way] of starts) control(who, way);
  const found: Held[] = [];
  for (let cost = 0; cost < waiting.length; cost += 1)
    for (const held of waiting[cost] ?? []) {
      if (budget.steps < 0) return found;
      found.push(held);
      goOn(held);
    }
  return found;
};

const PROVIDER_CAPABILITIES = ["identity_providers.update", "role_bindings.create", "identity_providers.scim.manage"];

const FREE = "the service lets a caller grant what it does not hold";

/** The assumption for a change of claims that the caller's own roles may not cover; empty: none. */
const obstacleTo = (world: World, who: NodeId, identity: NodeId) => {
  const root = world.root(world.graph.identities.get(identity)?.group ?? "");
  const own = world.bindingsOf(who);
  const holds = (capability: string, group: NodeId) =>
    own.some((one) => world.lineage(group).includes(one.group) && world.granted(one.role).has(capability));
  const isCovered = world
    .bindingsOf(identity)
    .filter(({ group }) => world.root(group) === root)
    .every(({ group, role }) => world.isRead(role) && [...world.granted(role)].every((one) => holds(one, group)));
  if (!isCovered) return FREE;
  return world.isWhole(root) ? "" : "no role binding that is not visible to you is in the way";
};
