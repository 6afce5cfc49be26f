// What somebody can come to hold by the rules of the reference server (docs/contract.md#d21, docs/contract.md#change-of-claims): a caller
// grants only what it holds. An identity is taken by a caller that may change it and holds all that the identity has in its own
// organization; what another organization grants it comes along. In the way may be a binding of that identity: a caller who may take it
// away does so. What several identities hold can be brought together by granting it to one of them.

import { type BindingNode, type NodeId, nameOf } from "../graph/graph.ts";
import type { Search } from "./cautious.ts";
import { type Held, Holdings, join, type Request, send, type Way, wireNames } from "./reached.ts";
import { type Start, takeOver } from "./start.ts";
import { placeIn, type World } from "./world.ts";

export const reachStrictly = (world: World, start: Start, search: Search): Held[] => {
  if (start.starter.assumption !== undefined) return [];
  const holdings = new Holdings(world);
  const found: Held[] = [];
  const control = ({ identity, requests, lost }: Taken): void => {
    const kept = world.bindingsOf(identity).filter(({ id, role }) => !lost.has(id) && world.isRead(role));
    for (const { id, group, role } of kept) {
      const capabilities = world.granted(role);
      const held: Held = {
        who: identity,
        group,
        role,
        binding: id,
        capabilities,
        requests,
        assumptions: [],
        assumes: "strict",
      };
      holdings.add(held);
      found.push(held);
    }
  };
  const certain = new Map([...start.controlled].filter(([, { assumptions }]) => assumptions.length === 0));
  for (const [identity, { requests }] of certain) control({ identity, requests, lost: new Set() });
  const taken = new Set(certain.keys());
  for (let isNew = true; isNew; ) {
    const round = candidatesOf(holdings, taken).flatMap((identity) => {
      if (search.budget.steps < 0) return [];
      const callers = new Set([...certain.keys(), ...holdings.identities()]);
      const ways = [...callers].flatMap((who) => takeover(holdings, who, identity, { start, search }) ?? []);
      return shortest(ways) ?? [];
    });
    for (const one of round) {
      taken.add(one.identity);
      control(one);
    }
    isNew = round.length > 0;
  }
  return found.sort(byLength);
};

const byLength = (a: Pick<Way, "requests">, b: Pick<Way, "requests">): number => a.requests.length - b.requests.length;

/** Of several, the first. */
const shortest = <W extends Pick<Way, "requests">>(ways: readonly W[]): W | undefined => ways.toSorted(byLength)[0];

interface Taken {
  identity: NodeId;
  requests: readonly Request[];
  /** bindings that had to go */
  lost: ReadonlySet<NodeId>;
}

/** Identities that another organization grants what none of those that are taken holds. */
const candidatesOf = (holdings: Holdings, taken: ReadonlySet<NodeId>): NodeId[] => {
  const { world } = holdings;
  const isHeld = (role: NodeId, group: NodeId): boolean =>
    [...world.granted(role)].every((one) => holdings.identities().some((who) => holdings.hasAll(who, [one], group)));
  const isWorth = (id: NodeId): boolean =>
    !taken.has(id) && world.abroad(id).some(({ group, role }) => !isHeld(role, group));
  return world.trusted.flatMap(({ id }) => (isWorth(id) ? id : []));
};

const takeover = (
  holdings: Holdings,
  who: NodeId,
  identity: NodeId,
  { start, search }: { start: Start; search: Search },
): Taken | undefined => {
  const { world } = holdings;
  search.budget.steps -= 1;
  const { group } = world.graph.identities.get(identity) ?? {};
  if (group === undefined) return undefined;
  const update = supply(holdings, who, ["identity.update"], group);
  if (update === undefined) return undefined;
  const ways: Way[] = [update];
  const lost = new Set<NodeId>();
  for (const binding of world.bindingsOf(identity)) {
    if (world.root(binding.group) !== world.root(group)) continue;
    if (!world.isRead(binding.role)) return undefined;
    const way = clear(holdings, who, binding);
    if (way === undefined) return undefined;
    ways.push(way.way);
    if (way.isRemoved) lost.add(binding.id);
  }
  const before = join(...ways).requests;
  // A role that is widened on the way may be one that the identity has: then it is in the way with more.
  if (
    before.some(
      ({ operation, at }) => operation === "UpdateRole" && world.bindingsOf(identity).some(({ role }) => role === at),
    )
  )
    return undefined;
  const way = takeOver(world, start.starter, search.audience, { who, identity }, { requests: before, assumptions: [] });
  return { identity, requests: way.requests, lost };
};

/** How a binding of an identity is no longer in the way of `who`: it holds what the role grants, or the binding is taken away. */
const clear = (holdings: Holdings, who: NodeId, binding: BindingNode): { way: Way; isRemoved: boolean } | undefined => {
  const { world } = holdings;
  const { id, group, role } = binding;
  const held = supply(holdings, who, [...world.granted(role)], group);
  if (held !== undefined && holdings.hasAll(who, world.granted(role), group)) return { way: held, isRemoved: false };
  const remover = shortest(holdings.identities().flatMap((by) => removal(holdings, by, id, group) ?? []));
  if (held !== undefined && (remover === undefined || held.requests.length <= remover.requests.length))
    return { way: held, isRemoved: false };
  return remover && { way: remover, isRemoved: true };
};

const removal = (holdings: Holdings, by: NodeId, binding: NodeId, group: NodeId): Way | undefined => {
  const { world } = holdings;
  const [name, place] = [nameOf(world.graph.identities, by), placeIn(world, group)];
  const may = holdings.find(by, "role_bindings.delete", group);
  if (may) {
    const why = `${name} may delete role bindings at ${place}, and takes away the one that is in the way`;
    return send(may, { as: by, operation: "DeleteRoleBinding", at: binding, body: null, why });
  }
  const change = holdings.find(by, "role_bindings.update", group);
  if (change === undefined) return undefined;
  const why = `${name} may change role bindings at ${place}, and takes over the one that is in the way`;
  const body: Request["body"] = (uidOf) => ({ identityUid: uidOf(by), roleUid: uidOf(change.role) });
  return send(change, { as: by, operation: "UpdateRoleBinding", at: binding, body, why });
};

/** How `who` comes to hold all of the capabilities at the group: it does, or others under control give it what it lacks. */
const supply = (holdings: Holdings, who: NodeId, capabilities: readonly string[], group: NodeId): Way | undefined => {
  const own = capabilities.map((one) => holdings.find(who, one, group));
  const missing = capabilities.filter((_, i) => own[i] === undefined);
  const held = join(...own);
  if (missing.length === 0) return held;
  if (holdings.identities().length < 2) return undefined;
  const given = give(holdings, who, missing, group);
  if (given !== undefined) return join(held, given);
  const parts = missing.length > 1 ? missing.map((one) => give(holdings, who, [one], group)) : [];
  return parts.length > 0 && parts.every((one) => one !== undefined) ? join(held, ...parts) : undefined;
};

/** `by` gives `to` the capabilities at the place, which is the group where they are needed or above it. */
interface Gift {
  by: NodeId;
  to: NodeId;
  capabilities: readonly string[];
  place: NodeId;
}

const give = (holdings: Holdings, to: NodeId, capabilities: readonly string[], group: NodeId): Way | undefined => {
  const others = holdings.identities().filter((by) => by !== to);
  const gifts = others.flatMap((by) =>
    holdings.world.lineage(group).map((place): Gift => ({ by, to, capabilities, place })),
  );
  return shortest(gifts.flatMap((gift) => [...grant(holdings, gift), ...widenings(holdings, gift)]));
};

const grant = (holdings: Holdings, { by, to, capabilities, place }: Gift): Way[] => {
  const { world } = holdings;
  const may = holdings.find(by, "role_bindings.create", place);
  if (may === undefined || !isNear(holdings, by, to, place)) return [];
  if (!holdings.hasAll(by, capabilities, place)) return [];
  const role = world
    .grantable(place)
    .find(
      ({ id }) =>
        capabilities.every((one) => world.granted(id).has(one)) && holdings.hasAll(by, world.granted(id), place),
    );
  const { identities } = world.graph;
  const [giver, taker, where] = [nameOf(identities, by), nameOf(identities, to), placeIn(world, place)];
  const bind = (way: Way, given: NodeId | Request, why: string): Way[] => {
    const body: Request["body"] = (uidOf) => ({ identityUid: uidOf(to), roleUid: uidOf(given) });
    return [send(way, { as: by, operation: "CreateRoleBinding", at: place, body, why })];
  };
  if (role !== undefined) {
    const way = join(may, ...[...world.granted(role.id)].map((one) => holdings.find(by, one, place)));
    return bind(way, role.id, `${giver} holds what ${role.name} grants at ${where}, and gives it to ${taker}`);
  }
  const create = holdings.find(by, "roles.create", place);
  if (create === undefined) return [];
  const way = send(join(may, create, ...capabilities.map((one) => holdings.find(by, one, place))), {
    as: by,
    operation: "CreateRole",
    at: place,
    body: () => ({ name: "path", capabilities: wireNames(capabilities) }),
    why: `${giver} may create roles at ${where}, and creates one that grants what ${taker} lacks`,
  });
  return bind(way, way.requests.at(-1) as Request, `${giver} gives that role to ${taker}`);
};

/** The service takes an identity of the same organization, the caller itself, and one that the caller can list. */
const isNear = (holdings: Holdings, by: NodeId, to: NodeId, place: NodeId): boolean => {
  const { world } = holdings;
  const { group } = world.graph.identities.get(to) ?? {};
  if (group === undefined) return false;
  return by === to || world.root(group) === world.root(place) || holdings.hasAll(by, ["identity.list"], group);
};

/** Roles that `to` has at the place, and that `by` may widen by the capabilities. */
const widenings = (holdings: Holdings, { by, to, capabilities, place }: Gift): Way[] =>
  holdings.of(to).flatMap((held) => {
    const { roles, identities } = holdings.world.graph;
    const role = roles.get(held.role);
    if (held.group !== place || !role?.group) return [];
    const { id, name, group } = role;
    const wide = [...new Set([...role.capabilities, ...capabilities])].sort();
    const may = holdings.find(by, "roles.update", group);
    if (may === undefined || !holdings.hasAll(by, wide, group)) return [];
    const way = join(may, held, ...wide.map((one) => holdings.find(by, one, group)));
    const body: Request["body"] = () => ({ capabilities: wireNames(wide) });
    const why = `${nameOf(identities, by)} widens role ${name} by what it holds itself, for ${nameOf(identities, to)}`;
    return [send(way, { as: by, operation: "UpdateRole", at: id, body, why })];
  });
