// What somebody can come to hold if the service lets callers grant what they do not hold, and if people do their part. The published
// contract excludes neither (docs/contract.md#d21). Nothing that a request does here takes a way from another request, so the search goes
// on from what it has found, the shortest ways first.
import { type InviteNode, type NodeId, nameOf, type ProviderNode, type RoleNode } from "../graph/graph.ts";
import { isOpen } from "../graph/people.ts";
import {
  type Held,
  Holdings,
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

/** What gives a role at a group. */
type Given = Pick<Held, "group" | "role"> & { id: Held["binding"] };

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
    // What is certain comes first.
    const controlled = [...this.#start.controlled].sort(([, a], [, b]) => a.assumptions.length - b.assumptions.length);
    for (const [who, way] of controlled) this.#control(who, way);
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

  #grantedBy(role: NodeId): ReadonlySet<string> {
    return this.#world.isRead(role) ? this.#world.granted(role) : this.#world.owner.capabilities;
  }

  #hold(who: NodeId, { id, group, role }: Given, way: Way, capabilities = this.#grantedBy(role)): void {
    const { requests, assumptions } = way;
    this.#meet({ who, group, role, binding: id, capabilities, requests, assumptions, assumes: "cautious" });
  }

  #control(who: NodeId, { requests, assumptions }: Way): void {
    if (this.#controlled.has(who)) return;
    this.#controlled.add(who);
    const { isRead, graph, owner } = this.#world;
    for (const binding of this.#world.bindingsOf(who)) {
      const { role } = binding;
      const unread = isRead(role)
        ? []
        : [`role ${nameOf(graph.roles, role)} cannot be read, so it counts as ${owner.name}`];
      const way = { requests, assumptions: [...assumptions, ...unread] };
      this.#hold(who, binding, way);
      const wide = this.#widened.get(role);
      if (wide) this.#hold(who, binding, join({ requests, assumptions }, wide), this.#wideBy(role));
    }
  }

  #wideBy(role: NodeId): ReadonlySet<string> {
    return this.#world.owner.capabilities.union(this.#world.granted(role));
  }

  /** A request that `who` may send for itself; `may` says which, after its name. */
  #send(way: Way, who: NodeId, request: Omit<Request, "after" | "as" | "why">, may: string, assumption = FREE): Way {
    const name = isPerson(who) ? "the person" : nameOf(this.#world.graph.identities, who);
    return send(way, { ...request, as: senderOf(who), why: `${name} may ${may}` }, assumption);
  }

  #becomeOwner(held: Held): void {
    const { who, group, binding, capabilities } = held;
    const { id, name, capabilities: all } = this.#world.owner;
    if (capabilities.has("role_bindings.create")) {
      const body: Request["body"] = (uidOf) => ({ identityUid: uidOf(who), roleUid: uidOf(id) });
      const may = `create role bindings at ${placeIn(this.#world, group)}, and gives itself ${name} there`;
      const way = this.#send(held, who, { operation: "CreateRoleBinding", at: group, body }, may);
      this.#hold(who, { id: way.requests.at(-1) as Request, group, role: id }, way, all);
    } else if (capabilities.has("role_bindings.update")) {
      const body: Request["body"] = (uidOf) => ({ roleUid: uidOf(id) });
      const may = `change role bindings at ${placeIn(this.#world, group)}, and changes its own to ${name}`;
      const way = this.#send(held, who, { operation: "UpdateRoleBinding", at: binding, body }, may);
      this.#hold(who, { id: binding, group, role: id }, way, all);
    }
  }

  #widen(held: Held, { id, name, group }: RoleNode): void {
    if (this.#widened.has(id) || this.#world.owner.capabilities.isSubsetOf(this.#world.granted(id))) return;
    const capabilities = this.#wideBy(id);
    const way = this.#send(
      held,
      held.who,
      { operation: "UpdateRole", at: id, body: () => ({ capabilities: wireNames([...capabilities].sort()) }) },
      `change roles at ${placeIn(this.#world, group as NodeId)}, and widens ${name} for everyone bound to it`,
    );
    this.#widened.set(id, way);
    for (const binding of this.#world.bindingsTo(id)) {
      const { identity } = binding;
      const own = this.#holdings.of(identity).find((one) => one.binding === binding.id);
      if (own) this.#hold(identity, binding, join(own, way), capabilities);
    }
  }

  #takeIdentity(held: Held, identity: NodeId): void {
    if (this.#controlled.has(identity)) return;
    // What the identity holds is held already: to take it leads nowhere.
    const isNew = this.#world
      .bindingsOf(identity)
      .some(({ group, role }) => !this.#holdings.hasAll(held.who, this.#grantedBy(role), group));
    if (!isNew) return;
    const { who } = held;
    const obstacle = obstacleTo(this.#world, who, identity);
    const { audience } = this.#search;
    this.#control(identity, takeOver(this.#world, this.#start.starter, audience, { who, identity }, held, obstacle));
  }

  #signIn(way: Way, provider: ProviderNode, assumption: string): void {
    for (const mapping of this.#world.graph.externalGroups.values()) {
      if (mapping.provider !== provider.id) continue;
      const role = nameOf(this.#world.graph.roles, mapping.role);
      const signIn: Omit<Request, "after"> = {
        as: "workload",
        operation: "ExchangeGet",
        query: (uidOf) =>
          `${new URLSearchParams({ aud: this.#search.audience })}&identity_provider=${uidOf(provider.id)}`,
        body: null,
        why: `a person signs in at ${provider.name} as a member of ${mapping.externalGroupId}, which gets ${role}`,
      };
      this.#hold(personBy(mapping.id), mapping, send(way, signIn, assumption));
    }
  }

  #useProvider({ who }: Held, provider: ProviderNode): void {
    const { id, name, group } = provider;
    const waysBy = (...capabilities: readonly string[]): Way | undefined => {
      const found = capabilities.map((one) => this.#holdings.find(who, one, group));
      return found.includes(undefined) ? undefined : join(...found);
    };
    const update = waysBy("identity_providers.update", "role_bindings.create");
    if (update) {
      const body: Request["body"] = () => ({ oidc: { issuer: "<issuer of its own>" } });
      const may = `change identity provider ${name}, and lets people of its own issuer sign in`;
      const way = this.#send(update, who, { operation: "UpdateIdentityProvider", at: id, body }, may);
      this.#signIn(way, provider, "a person signs in at the issuer");
    }
    const manage = waysBy("identity_providers.scim.manage", "identity_providers.list");
    if (manage) {
      const request = {
        operation: "iam.IdentityProvidersService/GenerateScimToken",
        at: id,
        body: () => ({}),
      } as const;
      const may = `manage the provisioning of ${name}, and puts people into its external groups`;
      const way = this.#send(manage, who, request, may, "");
      this.#signIn(way, provider, "a person signs in whom the provisioning put into the group");
    }
  }

  #accept({ id, role, group, name }: InviteNode): void {
    if (role === null) return;
    const accept: Omit<Request, "after"> = {
      as: "workload",
      operation: "auth.Auth/Register",
      body: () => ({ code: `<code of invite ${name}>` }),
      why: `a person who has the code accepts invite ${name}, and gets ${nameOf(this.#world.graph.roles, role)} at ${placeIn(this.#world, group)}`,
    };
    const assumption = "a person has the code of the invite, which no list shows";
    this.#hold(personBy(id), { id, role, group }, send(NO_REQUESTS, accept, assumption));
  }

  #goOn(held: Held): void {
    const { group, capabilities } = held;
    this.#becomeOwner(held);
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
        if (
          this.#world.lineage(invite.group).includes(group) &&
          invite.email === "" &&
          isOpen(invite, this.#search.nowMs)
        )
          this.#accept(invite);
  }
}

const PROVIDER_CAPABILITIES = ["identity_providers.update", "role_bindings.create", "identity_providers.scim.manage"];

const FREE = "the service lets a caller grant what it does not hold";

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
