// The access that someone can reach by the rules of the reference server (docs/internals/contract.md#d21, docs/internals/contract.md#change-of-claims): a
// caller grants only access that it holds. A caller takes an identity if it may change it and holds all access of the identity in its own
// organization. It also gains what another organization grants the identity. If a binding of that identity blocks this, a caller who may
// remove it does so. Granting the access of several identities to one of them combines it.

import type { BindingNode, NodeId } from "../graph/graph.ts";
import type { Search } from "./cautious.ts";
import { type Held, type Holdings, holdingsIn, join, type Request, send, type Way, wireNames } from "./reached.ts";
import { type Start, takeOver } from "./start.ts";
import type { World } from "./world.ts";

/** The way by which `who` reaches all of the capabilities at the group: it holds them, or others under control give it the missing ones. */
const supplyIn = (world: World, holdings: Holdings) => {
  const { lineage, root, granted, nameOf, placeOf } = world;
  const { roles, identities } = world.graph;
  const { find, hasAll } = holdings;

  /** The ways by which `by` holds each of these; undefined for one that it does not hold. */
  const waysTo = (by: NodeId, capabilities: Iterable<string>, group: NodeId) =>
    Array.from(capabilities, (one) => find(by, one, group));

  const supply = (who: NodeId, capabilities: readonly string[], group: NodeId): Way | undefined => {
    const own = waysTo(who, capabilities, group);
    const missing = capabilities.filter((_, i) => own[i] === undefined);
    const held = join(...own);
    if (missing.length === 0) return held;
    if (holdings.identities().length < 2) return undefined;
    const given = give(who, missing, group);
    if (given !== undefined) return join(held, given);
    const parts = missing.length > 1 ? missing.map((one) => give(who, [one], group)) : [];
    return parts.length > 0 && parts.every((one) => one !== undefined) ? join(held, ...parts) : undefined;
  };

  const give = (to: NodeId, capabilities: readonly string[], group: NodeId) => {
    const others = holdings.identities().filter((by) => by !== to);
    const gifts = others.flatMap((by) => lineage(group).map((place) => ({ by, to, capabilities, place })));
    return shortest(gifts.flatMap((gift) => [...grant(gift), ...widenings(gift)]));
  };

  const grant = ({ by, to, capabilities, place }: Gift): Way[] => {
    const may = find(by, "role_bindings.create", place);
    if (may === undefined || !isNear(by, to, place) || !hasAll(by, capabilities, place)) return [];
    const role = world
      .grantable(place)
      .find(({ id }) => capabilities.every((one) => granted(id).has(one)) && hasAll(by, granted(id), place));
    const [giver, taker, where] = [nameOf(by), nameOf(to), placeOf(place)];
    const bind = (way: Way, given: NodeId | Request, why: string) => {
      const body: Request["body"] = (uidOf) => ({ identityUid: uidOf(to), roleUid: uidOf(given) });
      return [send(way, { as: by, operation: "CreateRoleBinding", at: place, body, why })];
    };
    if (role !== undefined) {
      const way = join(may, ...waysTo(by, granted(role.id), place));
      return bind(way, role.id, `${giver} holds what ${role.name} grants at ${where}, and gives it to ${taker}`);
    }
    const create = find(by, "roles.create", place);
    if (create === undefined) return [];
    const way = send(join(may, create, ...waysTo(by, capabilities, place)), {
      as: by,
      operation: "CreateRole",
      at: place,
      body: () => ({ name: "path", capabilities: wireNames(capabilities) }),
      why: `${giver} may create roles at ${where}, and creates one that grants what ${taker} lacks`,
    });
    return bind(way, way.requests.at(-1) as Request, `${giver} gives that role to ${taker}`);
  };

  /** The service accepts an identity of the group's organization, the caller itself, and an identity that the caller can list. */
  const isNear = (by: NodeId, to: NodeId, place: NodeId) => {
    const { group } = identities.get(to) ?? {};
    if (group === undefined) return false;
    return by === to || root(group) === root(place) || hasAll(by, ["identity.list"], group);
  };

  /** Ways to add the capabilities to roles that `to` has at the place, and that `by` may change. */
  const widenings = ({ by, to, capabilities, place }: Gift) =>
    holdings.of(to).flatMap((held) => {
      const role = roles.get(held.role);
      if (held.group !== place || !role?.group) return [];
      const { id, name, group } = role;
      const wide = [...new Set([...role.capabilities, ...capabilities])].sort();
      const may = find(by, "roles.update", group);
      if (may === undefined || !hasAll(by, wide, group)) return [];
      const way = join(may, held, ...waysTo(by, wide, group));
      const body: Request["body"] = () => ({ capabilities: wireNames(wide) });
      const why = `${nameOf(by)} widens role ${name} by what it holds itself, for ${nameOf(to)}`;
      return [send(way, { as: by, operation: "UpdateRole", at: id, body, why })];
    });

  return supply;
};

export const reachStrictly = (world: World, start: Start, { audience, budget }: Search): Held[] => {
  if (start.starter.assumption !== undefined) return [];
  const { root, bindingsOf, granted, nameOf, placeOf } = world;
  const { identities } = world.graph;
  const holdings = holdingsIn(world);
  const { find, hasAll } = holdings;
  const supply = supplyIn(world, holdings);
  const found: Held[] = [];
  const control = ({ identity: who, requests, lost }: Taken) => {
    const kept = bindingsOf(who).filter(({ id, role }) => !lost.has(id) && world.isRead(role));
    for (const { id: binding, group, role } of kept) {
      const capabilities = granted(role);
      const held: Held = { who, group, role, binding, capabilities, requests, assumptions: [], assumes: "strict" };
      holdings.add(held);
      found.push(held);
    }
  };

  const removal = (by: NodeId, { id: at, group }: BindingNode): Way | undefined => {
    const [name, place] = [nameOf(by), placeOf(group)];
    const may = find(by, "role_bindings.delete", group);
    if (may) {
      const why = `${name} may delete role bindings at ${place}, and takes away the one that is in the way`;
      return send(may, { as: by, operation: "DeleteRoleBinding", at, body: null, why });
    }
    const change = find(by, "role_bindings.update", group);
    if (change === undefined) return undefined;
    const why = `${name} may change role bindings at ${place}, and takes over the one that is in the way`;
    const body: Request["body"] = (uidOf) => ({ identityUid: uidOf(by), roleUid: uidOf(change.role) });
    return send(change, { as: by, operation: "UpdateRoleBinding", at, body, why });
  };

  /** How a binding of an identity stops blocking `who`: it holds the capabilities of the role, or someone removes the binding. */
  const clear = (who: NodeId, binding: BindingNode): { way: Way; isRemoved: boolean } | undefined => {
    const { group, role } = binding;
    const held = supply(who, [...granted(role)], group);
    if (held !== undefined && hasAll(who, granted(role), group)) return { way: held, isRemoved: false };
    const remover = shortest(holdings.identities().flatMap((by) => removal(by, binding) ?? []));
    if (held !== undefined && (remover === undefined || held.requests.length <= remover.requests.length))
      return { way: held, isRemoved: false };
    return remover && { way: remover, isRemoved: true };
  };

  const takeover = (who: NodeId, identity: NodeId): Taken | undefined => {
    budget.steps -= 1;
    const { group } = identities.get(identity) ?? {};
    const update = group === undefined ? undefined : supply(who, ["identity.update"], group);
    if (group === undefined || update === undefined) return undefined;
    const ways: Way[] = [update];
    const lost = new Set<NodeId>();
    const bindings = bindingsOf(identity);
    for (const binding of bindings) {
      if (root(binding.group) !== root(group)) continue;
      const cleared = world.isRead(binding.role) ? clear(who, binding) : undefined;
      if (cleared === undefined) return undefined;
      ways.push(cleared.way);
      if (cleared.isRemoved) lost.add(binding.id);
    }
    const { requests } = join(...ways);
    // The way may widen a role that the identity has: then the identity holds more, which blocks the way.
    const isWidened = requests.some(
      ({ operation, at }) => operation === "UpdateRole" && bindings.some(({ role }) => role === at),
    );
    if (isWidened) return undefined;
    const way = takeOver(world, start.starter, audience, { who, identity }, { requests, assumptions: [] });
    return { identity, requests: way.requests, lost };
  };

  const certain = new Map([...start.controlled].filter(([, { assumptions }]) => assumptions.length === 0));
  for (const [identity, { requests }] of certain) control({ identity, requests, lost: new Set() });
  const taken = new Set(certain.keys());
  const isHeld = (role: NodeId, group: NodeId) =>
    [...granted(role)].every((one) => holdings.identities().some((who) => hasAll(who, [one], group)));
  for (let isNew = true; isNew; ) {
    // Identities with access in another organization that no taken identity holds.
    const candidates = world.trusted.filter(
      ({ id }) => !taken.has(id) && world.abroad(id).some(({ group, role }) => !isHeld(role, group)),
    );
    const round = candidates.flatMap(({ id: identity }) => {
      if (budget.steps < 0) return [];
      const callers = new Set([...certain.keys(), ...holdings.identities()]);
      return shortest([...callers].flatMap((who) => takeover(who, identity) ?? [])) ?? [];
    });
    for (const one of round) {
      taken.add(one.identity);
      control(one);
    }
    isNew = round.length > 0;
  }
  return found.sort(byLength);
};

const byLength = (a: Pick<Way, "requests">, b: Pick<Way, "requests">) => a.requests.length - b.requests.length;

/** The first of the shortest ways. */
const shortest = <W extends Pick<Way, "requests">>(ways: readonly W[]) => ways.toSorted(byLength)[0];

interface Taken {
  identity: NodeId;
  requests: readonly Request[];
  /** bindings that had to be removed */
  lost: ReadonlySet<NodeId>;
}

/** `by` gives `to` the capabilities at the place, which is the group that needs them or one above it. */
interface Gift {
  by: NodeId;
  to: NodeId;
  capabilities: readonly string[];
  place: NodeId;
}
