// Programs that change at random: resources of every kind that gives access, some of which name or adopt records that were made by hand.
import type { Json } from "../../../schema/index.ts";
import { type Declared, type Program, ref, without } from "../../harness/small-engine/program.ts";
import type { Random } from "../../support/random.ts";
import type { HandMade } from "./hand-made.ts";
import { someCapabilities, someClaims } from "./some.ts";

const CHANCE_OF_ADOPTION = 6;

type Kind = Declared["kind"];

export const accessProgram = (random: Random, made: HandMade) => {
  let resources: Declared[] = [];
  let count = 0;
  const fresh = (kind: Kind): string => `${made.prefix}${kind.toLowerCase()}-${++count}`;
  const named = (kind: Kind): Declared[] => resources.filter((one) => one.kind === kind);
  const chance = (one: number): boolean => random.below(one) === 0;
  // Groups that hold a set, and no single bindings.
  const reserved = new Set<string>();
  /** What is declared before `one`, or was made by hand. */
  const any = (kind: Kind, others: readonly string[], one?: Declared): unknown => {
    const before = one ? resources.slice(0, resources.indexOf(one)) : resources;
    const own = before.filter((other) => other.kind === kind && !reserved.has(other.name));
    return own.length > 0 && (others.length === 0 || random.below(5) > 1)
      ? ref(random.pick(own).name)
      : random.pick(others);
  };
  const place = (): unknown => any("group", made.groups);
  const identity = (one?: Declared): unknown => any("identity", made.identities, one);
  const role = (one?: Declared): unknown => any("role", [...made.roles, made.viewer], one);

  const declare = (kind: Kind, inputs: Json, name = fresh(kind)): void => void resources.push({ name, kind, inputs });
  const declareNamed = (kind: Kind, parent: unknown, inputs: Json, name = fresh(kind)): void =>
    declare(kind, { parent, name, ...inputs }, name);

  const isTaken = (kind: Kind, fields: readonly string[], inputs: Json): boolean =>
    named(kind).some((one) =>
      fields.every((field) => JSON.stringify(one.inputs[field]) === JSON.stringify(inputs[field])),
    );

  const pairs = (one?: Declared): Json[] => {
    const found = new Map<string, Json>();
    for (let left = 1 + random.below(3); left > 0; left -= 1) {
      const pair = { identity: identity(one), role: role(one) };
      found.set(JSON.stringify(pair), pair);
    }
    return [...found.values()];
  };

  const makers: Partial<Record<Kind, () => void>> = {
    group: () => {
      const force = chance(2) ? { forceDestroy: true } : {};
      declareNamed("group", place(), { description: random.hex(4), allowReplace: true, ...force });
    },
    identity: () => {
      const inputs = { claimMatch: someClaims(random), forceDestroy: true, allowReplace: true };
      declareNamed("identity", place(), inputs);
    },
    // Above all that may name it.
    role: () => declareNamed("role", made.organization, { capabilities: someCapabilities(random), allowReplace: true }),
    roleBinding: () => {
      const inputs = { parent: place(), identity: identity(), role: role() };
      if (!isTaken("roleBinding", ["parent", "identity", "role"], inputs)) declare("roleBinding", inputs);
    },
    roleBindingSet: () => {
      const name = fresh("group");
      reserved.add(name);
      const isByHand = chance(3) && !named("roleBindingSet").some((one) => one.inputs.parent === made.setGroup);
      if (!isByHand) declare("group", { parent: made.home, name, allowReplace: true, forceDestroy: true }, name);
      const parent = isByHand ? made.setGroup : ref(name);
      declare("roleBindingSet", { parent, bindings: pairs(), ...(chance(2) && { exclusive: true }) });
    },
    identityProvider: () => {
      const inputs = { oidc: signIn(), defaultRole: role(), forceDestroy: true };
      declareNamed("identityProvider", made.organization, inputs);
    },
    externalGroupRoleMapping: () => {
      const inputs = { parent: any("identityProvider", made.providers), scope: made.organization };
      declare("externalGroupRoleMapping", { ...inputs, externalGroupId: random.hex(6), role: role() });
    },
    groupInvite: () =>
      declare("groupInvite", {
        ...{ parent: place(), role: role(), ttl: random.pick(["604800s", "3600s"]) },
        ...(chance(2) && { email: `${random.hex(4)}@acme.example` }),
        ...(chance(2) && { singleUse: true }),
      }),
    repo: () => declareNamed("repo", place(), { description: random.hex(4) }),
  };

  const signIn = (): Json => ({
    ...{ issuer: `https://people-${random.hex(4)}.example`, clientId: random.hex(6), pkceEnabled: true },
    ...(chance(2) && { groupsClaim: "groups" }),
  });

  const KINDS = Object.keys(makers) as Kind[];
  const USUAL: Kind[] = ["group", "identity", "role", "roleBinding", "roleBinding", "roleBindingSet"];

  const adopt = (): void => {
    const open = made.adoptable.filter(
      ({ uid }) => !resources.some(({ inputs }) => inputs.adopt === uid || inputs.parent === uid),
    );
    if (open.length === 0) return;
    const { kind, uid, inputs } = random.pick(open);
    // Some are also changed.
    const change = chance(2) && kind === "role" ? { capabilities: someCapabilities(random) } : {};
    declare(kind, { ...inputs, ...change, adopt: uid, ...(chance(3) && { deleteAdopted: true }) });
  };

  const make = (): void => {
    if (chance(CHANCE_OF_ADOPTION)) adopt();
    else makers[random.pick(chance(3) ? KINDS : USUAL)]?.();
  };

  const alter = (one: Declared): void => {
    const changes: Partial<Record<Kind, () => Json>> = {
      group: () => ({ description: random.hex(5) }),
      identity: () => ({ claimMatch: someClaims(random) }),
      role: () => ({ capabilities: someCapabilities(random) }),
      roleBindingSet: () => ({ bindings: pairs(one) }),
      identityProvider: () => (chance(2) ? { oidc: signIn() } : { defaultRole: role(one) }),
      repo: () => ({ description: random.hex(5) }),
    };
    if (one.kind === "roleBinding") {
      const inputs = { ...one.inputs, ...(chance(2) ? { role: role(one) } : { identity: identity(one) }) };
      if (!isTaken("roleBinding", ["parent", "identity", "role"], inputs)) one.inputs = inputs;
    } else one.inputs = { ...one.inputs, ...changes[one.kind]?.() };
  };

  // To where it does not hold itself: the engine creates another record.
  const move = (one: Declared): void => {
    const isMovable = ["identity", "group"].includes(one.kind) && one.inputs.adopt === undefined;
    if (!isMovable) alter(one);
    else one.inputs = { ...one.inputs, parent: random.pick(made.groups) };
  };

  const change = (times: number): Program => {
    for (let left = times; left > 0; left -= 1) {
      const one = resources.length > 0 ? random.pick(resources) : undefined;
      const verb = random.below(10);
      if (!one || resources.length < 3 || (verb < 4 && resources.length < 12)) make();
      else if (verb < 6 || resources.length >= 12) resources = without(resources, one.name);
      else if (verb < 9) alter(one);
      else move(one);
    }
    return current();
  };
  /** Each resource after those that it refers to. */
  const current = (): Program => resources.map((one) => ({ ...one }));
  return { current, change };
};
