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

export const reachCautiously = (world: World, start: Start, search: Search): Held[] =>
  new CautiousSearch(world, start, search).run();

class CautiousSearch {
  readonly #world: World;
  readonly #start: Start;
  readonly #search: Search;
  readonly #holdings: Holdings;
  readonly #controlled = new Set<NodeId>();
  readonly #widened = new Map<NodeId, Way>();
  readonly #waiting: Held[][] = [];
  readonly #found: Held[] = [];

  constructor(world: World, start: Start, search: Search) {
    this.#world = world;
    this.#start = start;
    this.#search = search;
    this.#holdings = new Holdings(world);
  }

  run(): Held[] {
    for (const [who, requests] of this.#start.controlled) this.#control(who, { requests, assumptions: [] });
    for (const [who, requests] of this.#start.perhaps) this.#control(who, { requests, assumptions: [PERHAPS] });
    for (let cost = 0; cost < this.#waiting.length; cost += 1) {
      const here = this.#waiting[cost] ?? [];
      for (const held of here) {
        if (this.#search.budget.steps < 0) return this.#found;
        this.#found.push(held);
        this.#goOn(held);
      }
    }
    return this.#found;
  }

  #meet(held: Held): void {
    this.#search.budget.steps -= 1;
    if (this.#holdings.hasAll(held.who, held.capabilities, held.group)) return;
    this.#holdings.add(held);
    const cost = held.requests.length;
    this.#waiting[cost] ??= [];
    this.#waiting[cost].push(held);
  }

  #assumptionsOf(role: NodeId): string[] {
    return this.#world.isRead(role)
      ? []
      : [`role ${nameOf(this.#world.graph.roles, role)} cannot be read, so it counts as ${this.#world.owner.name}`];
  }

  #grantedBy(role: NodeId): ReadonlySet<string> {
    return this.#world.isRead(role) ? this.#world.granted(role) : this.#world.owner.capabilities;
  }

  #control(who: NodeId, way: Way): void {
    if (this.#controlled.has(who)) return;
    this.#controlled.add(who);
    for (const { id, group, role } of this.#world.bindingsOf(who)) {
      const assumptions = [...way.assumptions, ...this.#assumptionsOf(role)];
      this.#meet({
        who,
        group,
        role,
        binding: id,
        capabilities: this.#grantedBy(role),
        requests: way.requests,
        assumptions,
      });
      const wide = this.#widened.get(role);
      if (wide) this.#meet({ ...this.#wideHeld(who, group, role, id), ...join(way, wide) });
    }
  }

  #wideHeld(who: NodeId, group: NodeId, role: NodeId, binding: NodeId) {
    return {
      ...{ who, group, role, binding },
      capabilities: new Set([...this.#world.owner.capabilities, ...this.#world.granted(role)]),
    };
  }

  #bindOwner(held: Held): void {
    const { who, group } = held;
    const role = this.#world.owner.name;
    const { way, request } = send(
      held,
      {
        as: senderOf(who),
        operation: "CreateRoleBinding",
        at: group,
        body: (uidOf) => ({ identityUid: uidOf(who), roleUid: uidOf(this.#world.owner.id) }),
        why: `${this.#senderText(who)} may create role bindings at ${placeIn(this.#world, group)}, and gives itself ${role} there`,
      },
      FREE,
    );
    this.#meet({
      who,
      group,
      role: this.#world.owner.id,
      binding: request,
      capabilities: this.#world.owner.capabilities,
      ...way,
    });
  }

  #changeBinding(held: Held): void {
    const { who, group, binding } = held;
    const role = this.#world.owner.name;
    const { way } = send(
      held,
      {
        as: senderOf(who),
        operation: "UpdateRoleBinding",
        at: binding,
        body: (uidOf) => ({ roleUid: uidOf(this.#world.owner.id) }),
        why: `${this.#senderText(who)} may change role bindings at ${placeIn(this.#world, group)}, and changes its own to ${role}`,
      },
      FREE,
    );
    this.#meet({
      who,
      group,
      role: this.#world.owner.id,
      binding,
      capabilities: this.#world.owner.capabilities,
      ...way,
    });
  }

  #widen(held: Held, role: RoleNode): void {
    if (
      this.#widened.has(role.id) ||
      [...this.#world.owner.capabilities].every((one) => this.#world.granted(role.id).has(one))
    )
      return;
    const capabilities = [...new Set([...role.capabilities, ...this.#world.owner.capabilities])].sort();
    const { way } = send(
      held,
      {
        as: senderOf(held.who),
        operation: "UpdateRole",
        at: role.id,
        body: () => ({ capabilities: wireNames(capabilities) }),
        why: `${this.#senderText(held.who)} may change roles at ${placeIn(this.#world, role.group as NodeId)}, and widens ${role.name} for everyone bound to it`,
      },
      FREE,
    );
    this.#widened.set(role.id, way);
    for (const { id, group, identity } of this.#world.bindingsTo(role.id)) {
      const own = this.#controlled.has(identity)
        ? this.#holdings.of(identity).find(({ binding }) => binding === id)
        : undefined;
      if (own) this.#meet({ ...this.#wideHeld(identity, group, role.id, id), ...join(own, way) });
    }
  }

  #takeIdentity(held: Held, identity: NodeId): void {
    if (this.#controlled.has(identity)) return;
    // What the identity holds is held already: to take it leads nowhere.
    const isNew = this.#world
      .bindingsOf(identity)
      .some(({ group, role }) => !this.#holdings.hasAll(held.who, this.#grantedBy(role), group));
    if (!isNew) return;
    const changed = send(
      held,
      changeOfClaims(this.#world, held.who, identity, this.#start.starter.relationship),
      obstacleTo(this.#world, held.who, identity),
    );
    const assumptions = [
      ...changed.way.assumptions,
      ...(this.#start.starter.assumption ? [this.#start.starter.assumption] : []),
    ];
    const assumed = exchange(identity, this.#search.audience, assumeText(this.#world, identity), changed.way.requests);
    this.#control(identity, { requests: [...changed.way.requests, assumed], assumptions: [...new Set(assumptions)] });
  }

  #senderText(who: NodeId): string {
    return isPerson(who) ? "the person" : nameOf(this.#world.graph.identities, who);
  }

  #signIn(way: Way, provider: ProviderNode, why: string): void {
    for (const { id, role, group, externalGroupId, provider: own } of this.#world.graph.externalGroups.values()) {
      if (own !== provider.id) continue;
      const { way: signedIn } = send(
        way,
        {
          as: "workload",
          operation: "ExchangeGet",
          query: (uidOf) =>
            `${new URLSearchParams({ aud: this.#search.audience })}&identity_provider=${uidOf(provider.id)}`,
          body: null,
          why: `a person signs in at ${provider.name} as a member of ${externalGroupId}, which gets ${nameOf(this.#world.graph.roles, role)}`,
        },
        why,
      );
      const capabilities = this.#grantedBy(role);
      this.#meet({ who: personBy(id), group, role, binding: id, capabilities, ...signedIn });
    }
  }

  #useProvider(held: Held, provider: ProviderNode): void {
    const { who } = held;
    const [update, bind, manage, list] = (
      [
        "identity_providers.update",
        "role_bindings.create",
        "identity_providers.scim.manage",
        "identity_providers.list",
      ] as const
    ).map((capability) => this.#holdings.find(who, capability, provider.group));
    if (update && bind) {
      const { way } = send(
        join(update, bind),
        {
          as: senderOf(who),
          operation: "UpdateIdentityProvider",
          at: provider.id,
          body: () => ({ oidc: { issuer: "<issuer of its own>" } }),
          why: `${this.#senderText(who)} may change identity provider ${provider.name}, and lets people of its own issuer sign in`,
        },
        FREE,
      );
      this.#signIn(way, provider, "a person signs in at the issuer");
    }
    if (manage && list) {
      const { way } = send(join(manage, list), {
        as: senderOf(who),
        operation: "iam.IdentityProvidersService/GenerateScimToken",
        at: provider.id,
        body: () => ({}),
        why: `${this.#senderText(who)} may manage the provisioning of ${provider.name}, and puts people into its external groups`,
      });
      this.#signIn(way, provider, "a person signs in whom the provisioning put into the group");
    }
  }

  #accept(invite: InviteNode): void {
    const { id, role, group, name } = invite;
    if (role === null) return;
    const { way } = send(
      { requests: [], assumptions: [] },
      {
        as: "workload",
        operation: "auth.Auth/Register",
        body: () => ({ code: `<code of invite ${name}>` }),
        why: `a person who has the code accepts invite ${name}, and gets ${nameOf(this.#world.graph.roles, role)} at ${placeIn(this.#world, group)}`,
      },
      "a person has the code of the invite, which no list shows",
    );
    this.#meet({ who: personBy(id), group, role, binding: id, capabilities: this.#grantedBy(role), ...way });
  }

  #goOn(held: Held): void {
    const { group, capabilities } = held;
    if (capabilities.has("role_bindings.create")) this.#bindOwner(held);
    else if (capabilities.has("role_bindings.update")) this.#changeBinding(held);
    for (const place of this.#world.below(group)) {
      this.#search.budget.steps -= 1;
      if (capabilities.has("roles.update")) for (const role of this.#world.rolesIn(place)) this.#widen(held, role);
      if (capabilities.has("identity.update"))
        for (const { id } of this.#world.boundIn(place)) {
          this.#search.budget.steps -= 1;
          this.#takeIdentity(held, id);
        }
    }
    if (PROVIDER_CAPABILITIES.some((one) => capabilities.has(one)))
      for (const provider of this.#world.graph.providers.values())
        if (this.#world.lineage(provider.group).includes(group)) this.#useProvider(held, provider);
    if (this.#search.invites && capabilities.has("group_invites.list") && held.requests.length === 0)
      for (const invite of this.#world.graph.invites.values())
        if (this.#world.lineage(invite.group).includes(group) && isOpen(invite, this.#search.nowMs))
          this.#accept(invite);
  }
}

/** Sends a request as an identity; returns the way with it. */
const send = (way: Way, request: Omit<Request, "after">, assumption = ""): { way: Way; request: Request } => {
  const sent: Request = { ...request, after: way.requests };
  const assumptions = assumption === "" ? way.assumptions : [...new Set([...way.assumptions, assumption])];
  return { way: { requests: [...way.requests, sent], assumptions }, request: sent };
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
