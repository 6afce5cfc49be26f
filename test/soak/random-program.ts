// Programs that change at random: resources of four kinds, and sets of role bindings, come, go, change, move and get other logical names; role
// bindings name what they bind by a reference or, where the engine shall not know, by the plain uid.
import type { Json } from "../../schema/index.ts";
import { type Declared, mapRefs, type Program, ref, refsIn, without } from "../harness/small-engine/program.ts";
import type { Random } from "../support/random.ts";

const MOST = 12;
const CAPABILITIES = ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST", "CAP_IAM_ROLE_BINDINGS_LIST"];

interface Own extends Declared {
  /** role bindings: the uids of who and what are written out */
  literal?: boolean;
  /** a group that holds a set of role bindings, and nothing else */
  reserved?: boolean;
}

export const randomProgram = (random: Random, home: string, { spellsOutUids = true } = {}) => {
  let resources: Own[] = [];
  let count = 0;
  /** names whose uid this change may give to another record */
  let unstable = new Set<string>();

  const fresh = (kind: Declared["kind"]) => `${kind}-${++count}`;
  const named = (kind: Declared["kind"]) => resources.filter((one) => one.kind === kind);
  const place = (): unknown => {
    const groups = named("group").filter(({ reserved }) => !reserved);
    return groups.length > 0 && random.below(3) > 0 ? ref(random.pick(groups).name) : home;
  };
  const text = () => random.hex(6);

  const make = (): void => {
    const kind = random.pick(["group", "identity", "role", "roleBinding", "roleBindingSet"] as const);
    const name = fresh(kind);
    const common = { name: random.pick(["alike", name]), description: text(), allowReplace: true };
    const claimMatch = { issuer: "https://issuer.example.com", subject: text() };
    const capabilities = [random.pick(CAPABILITIES)];
    if (kind === "group") resources.push({ name, kind, inputs: { parent: place(), ...common } });
    // Roles and identities are above all resources that may name them.
    else if (kind === "identity") resources.push({ name, kind, inputs: { parent: home, claimMatch, ...common } });
    else if (kind === "role") resources.push({ name, kind, inputs: { parent: home, capabilities, ...common } });
    else if (kind === "roleBinding") bind(name);
    else bindAll(name);
    unstable.add(name);
  };

  const bind = (name: string): void => {
    const [identities, roles] = [named("identity"), named("role")];
    if (identities.length === 0 || roles.length === 0) return;
    const identity = ref(random.pick(identities).name);
    const inputs: Json = { parent: place(), identity, role: ref(random.pick(roles).name) };
    resources.push({ name, kind: "roleBinding", inputs, literal: spellsOutUids && random.below(3) === 0 });
  };

  // In a group of its own: a pair that a RoleBinding declares too is refused.
  const bindAll = (name: string): void => {
    if (named("identity").length === 0 || named("role").length === 0) return;
    const group = fresh("group");
    const common = { name: group, description: text(), allowReplace: true };
    resources.push({ name: group, kind: "group", inputs: { parent: home, ...common }, reserved: true });
    resources.push({ name, kind: "roleBindingSet", inputs: { parent: ref(group), bindings: pairs() } });
    unstable.add(group);
  };

  const pairs = (): Json[] =>
    named("identity").flatMap(({ name: identity }) =>
      named("role")
        .filter(() => random.below(2) === 0)
        .map(({ name: role }) => ({ identity: ref(identity), role: ref(role) })),
    );

  const change = (one: Own): void => {
    if (one.kind === "role") one.inputs = { ...one.inputs, capabilities: random.shuffle(CAPABILITIES).slice(0, 2) };
    else if (one.kind === "identity")
      one.inputs = { ...one.inputs, claimMatch: { issuer: "https://issuer.example.com", subject: text() } };
    else if (one.kind === "group") one.inputs = { ...one.inputs, description: text() };
    else if (one.kind === "roleBindingSet") one.inputs = { ...one.inputs, bindings: pairs() };
    else one.inputs = { ...one.inputs, role: ref(random.pick(named("role")).name) };
  };

  // Of a group, to where it does not hold itself.
  const move = (one: Own): void => {
    if (one.kind === "roleBindingSet") change(one);
    else one.inputs = { ...one.inputs, parent: one.kind === "roleBinding" ? place() : home };
    if (one.kind === "group") unsettle(one.name);
  };

  const rename = (one: Own): void => {
    const [before, after] = [one.name, fresh(one.kind)];
    unsettle(before);
    one.name = after;
    for (const other of resources) other.inputs = mapRefs(other.inputs, (name) => ref(name === before ? after : name));
    unsettle(after);
  };

  const unsettle = (name: string): void => {
    unstable.add(name);
    for (const one of resources)
      if ((one.inputs.parent as { ref?: string }).ref === name && !unstable.has(one.name)) unsettle(one.name);
  };

  const render = ({ name, kind, inputs, literal }: Own, uidOf: (name: string) => string | undefined): Declared => {
    if (!literal) return { name, kind, inputs };
    const spelt = Object.entries(inputs).map(([field, value]) => {
      const [target] = refsIn(value);
      const uid = target === undefined || unstable.has(target) ? undefined : uidOf(target);
      return [field, uid ?? value] as const;
    });
    return { name, kind, inputs: Object.fromEntries(spelt) };
  };

  return {
    /** Changes the program and returns it; `uidOf` returns the uids of the state. */
    next: (uidOf: (name: string) => string | undefined): Program => {
      unstable = new Set();
      for (let left = 1 + random.below(4); left > 0; left -= 1) {
        const one = resources.length > 0 ? random.pick(resources) : undefined;
        const verb = random.below(10);
        if (!one || resources.length < 5 || (verb < 4 && resources.length < MOST)) make();
        else if (verb < 5 || resources.length >= MOST) resources = without(resources, one.name);
        else if (verb < 7) change(one);
        else if (verb < 8) move(one);
        else rename(one);
      }
      return resources.map((one) => render(one, uidOf));
    },
  };
};
