// The constructor of a set of role bindings, in either form. Its arguments and outputs are generated.
import type * as pulumi from "@pulumi/pulumi";
import { getOrInsert, isUidp, resources, roleBindingSet } from "../../schema/index.ts";
import { noteStored } from "./acknowledge.ts";
import { currentProgram, type Entered, type Literal } from "./dependencies.ts";
import { formOf, requireOneForm, withAliases } from "./form.ts";
import { referenceUid, secretArguments } from "./inputs.ts";
import { type CheckedNames, checkRole, nameOf, namesToCheck } from "./names.ts";
import { awaitValue, markHandled } from "./output.ts";
import { claimPlace, DeclaredResource } from "./resource.ts";
import { programError } from "./session.ts";

const { type: TYPE } = roleBindingSet;

/** The outputs that are not arguments, without a value until the engine has them. */
const unset = Object.fromEntries(
  ["uid", ...Object.keys(roleBindingSet.outputs.shape)].map((name) => [name, undefined]),
);

interface GivenPair {
  identity: unknown;
  role: unknown;
}

/** The arguments of the generated class. */
interface GivenArgs {
  parent: unknown;
  bindings: GivenPair[];
}

/** A set of role bindings; its uid is the uid of its group. */
export abstract class SetResource extends DeclaredResource {
  /** uid of the group */
  declare readonly uid: pulumi.Output<string>;
  declare readonly bindings: pulumi.Output<readonly { uid: string }[]>;

  protected constructor(name: string, args: GivenArgs, opts: pulumi.CustomResourceOptions) {
    const form = formOf(new.target);
    requireOneForm(form, TYPE, name, opts);
    const { parent, bindings, ...switches } = args;
    const group = referenceUid(parent, resources.group.type, "parent");
    const pairs = pairsFrom(bindings);
    markHandled([group, pairs]);
    const formInputs = form.inputs("roleBindingSet", TYPE, name, opts);
    const given = { parent: group, bindings: pairs, ...switches };
    const literals = [...literalOf(group, "Group"), ...literalsIn(pairs)];
    const options = withAliases(form, TYPE, withNames(opts));
    const entered = currentProgram().enter({ type: TYPE, name, sharesUid: true, literals }, given, options);
    claimPlace(entered, TYPE, name, given);
    if (Array.isArray(pairs)) refuseTwice(name, entered, pairs);
    const described = form.looksUp ? secretArguments({}) : {};
    const bag = {
      ...unset,
      ...given,
      ...shownPairs(namesToCheck(form, TYPE, opts), name, entered, pairs),
      ...described,
      ...formInputs,
    };
    super(form.prefix + TYPE, name, bag, entered);
    noteStored(resources.roleBinding.field, async () => (await awaitValue(this.bindings))?.map(({ uid }) => uid) ?? []);
  }
}

/** The names of pairs whose changes are ignored are ignored too, pair by pair. */
const withNames = (opts: pulumi.CustomResourceOptions) => {
  const { ignoreChanges } = opts;
  if (ignoreChanges === undefined) return opts;
  const names = ignoreChanges
    .filter((path) => /^bindings\b/.test(path))
    .map((path) => path.replace("bindings", "names"));
  return { ...opts, ignoreChanges: [...ignoreChanges, ...names] };
};

type Pair = { identity: pulumi.Input<string>; role: pulumi.Input<string> };

// The check refuses anything but a list of pairs, with its path.
const pairsFrom = (bindings: GivenPair[]): Pair[] => {
  if (!Array.isArray(bindings)) return bindings;
  return bindings.map((pair, i): Pair => {
    if (typeof pair !== "object" || pair === null) return pair;
    return {
      ...pair,
      identity: referenceUid(pair.identity, resources.identity.type, `bindings[${i}].identity`) as pulumi.Input<string>,
      role: referenceUid(pair.role, resources.role.type, `bindings[${i}].role`) as pulumi.Input<string>,
    };
  });
};

const literalOf = (value: unknown, type: string): Literal[] => (isUidp(value) ? [{ uid: value, type }] : []);

const literalsIn = (pairs: readonly Pair[]): Literal[] => {
  const found = Array.isArray(pairs)
    ? pairs.flatMap((pair) => [...literalOf(pair?.identity, "Identity"), ...literalOf(pair?.role, "Role")])
    : [];
  return [...new Map(found.map((one) => [one.uid, one])).values()];
};

/** A preview does not know the uids of new records, so the check cannot compare them. */
const refuseTwice = (name: string, entered: Entered, pairs: readonly Pair[]): void => {
  const first = new Map<unknown, Map<unknown, number>>();
  const problems = pairs.flatMap((pair, i) => {
    const identity = entered.resourceOf(pair?.identity);
    if (identity === undefined) return [];
    const role = entered.resourceOf(pair.role) ?? pair.role;
    const roles = getOrInsert(first, identity, () => new Map<unknown, number>());
    const before = roles.get(role);
    if (before !== undefined) return [`bindings[${i}]: the same identity and role as bindings[${before}]`];
    roles.set(role, i);
    return [];
  });
  if (problems.length > 0) throw programError(`${TYPE} ${name}: ${problems.join("\n  - ")}`);
};

/** The pairs with their roles checked, and the names that a preview shows: one value for the SDK, which takes a stack trace for each. */
const shownPairs = (which: CheckedNames, name: string, entered: Entered, pairs: readonly Pair[]): pulumi.Inputs => {
  if (!Array.isArray(pairs)) return {};
  const checkPair = (pair: Pair, i: number) =>
    !pair?.role || entered.resourceOf(pair.role)
      ? pair
      : { ...pair, role: checkRole(`${TYPE} ${name}: bindings[${i}].role`, pair.role, which) };
  const foundNames = new Map<unknown, Promise<string | undefined>>();
  const findName = (reference: pulumi.Input<string | undefined>) =>
    getOrInsert(foundNames, reference, () => nameOf(entered, reference));
  const namesOf = async (pair: Pair) => ({
    identity: await findName(pair?.identity),
    role: await findName(pair?.role),
  });
  return { bindings: pairs.map(checkPair), names: Promise.all(pairs.map(namesOf)) };
};
