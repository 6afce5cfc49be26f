// RoleBindingSet: all role bindings of one group as one resource, so that thousands of them are few resources to the engine.
import * as pulumi from "@pulumi/pulumi";
import { isUidp, resources } from "../../schema/index.ts";
import { SET_TYPE as TYPE } from "../record/kind.ts";
import { nameOf } from "./binding-names.ts";
import { currentProgram, type Entered, type Literal } from "./dependencies.ts";
import { failWith } from "./fail-with.ts";
import { formOf, requireOneForm, withAliases } from "./form.ts";
import type { Group } from "./generated/group.ts";
import type { Identity } from "./generated/identity.ts";
import type { Role } from "./generated/role.ts";
import { type BoundRecord, referenceUid, uidOf } from "./inputs.ts";
import { markHandled, settled } from "./output.ts";
import { pinPosition } from "./position.ts";
import { claimPlace } from "./resource.ts";
import { type CheckedNames, checkedRole, namesToCheck } from "./role-names.ts";
import { secretArguments } from "./secret-arguments.ts";
import { programError } from "./session.ts";
import { noteStored } from "./stored.ts";

/** Who has which role. */
export interface RoleBindingPair {
  /** Who is granted the role: an Identity or a uid */
  identity: Identity | pulumi.Input<string>;
  /** What is granted: the name of a built-in role (`viewer`, `editor`, `owner`), a Role, or a uid */
  role: Role | pulumi.Input<string>;
}

/** What a RoleBindingSet takes. */
export interface RoleBindingSetArgs {
  /** The group where the grants hold, and below: a Group or a uid; a change creates the new set before the old one ends */
  parent: Group | pulumi.Input<string>;
  /** Who has which role there; the order means nothing */
  bindings: RoleBindingPair[];
  /**
   * Removes the bindings of the group that this set does not declare: those that the last run or refresh has recorded in `unmanaged`,
   * so that a preview shows them first. Default: they stay
   */
  exclusive?: boolean;
  /** Most bindings that a run of an exclusive set removes; more are an error and nothing is removed; default: 20 */
  maxRemovals?: number;
}

/** A role binding of the set's group. */
export interface SetBinding {
  /** uid of the role binding */
  uid: string;
  /** Who is granted the role */
  identity: BoundRecord;
  /** What is granted */
  role: BoundRecord;
}

/** A role binding that the set does not declare. */
export interface UnmanagedBinding extends SetBinding {
  /** Why an exclusive set never removes it */
  kept?: string;
}

/**
 * RoleBindingSet: all role bindings of one group as one resource, so that thousands of them are few resources to the engine.
 *
 * Errors: a pair that is there twice, and a group whose bindings another resource declares, are refused in the preview. The service
 * refuses with PERMISSION_DENIED a caller without `role_bindings.create`, or without the capabilities of a role that it grants.
 *
 * @example
 * ```ts
 * new RoleBindingSet("platform", {
 *   parent: platform,
 *   bindings: [
 *     { identity: ci, role: "editor" },
 *     { identity: audit, role: "viewer" },
 *   ],
 * });
 * ```
 */
export class RoleBindingSet extends pulumi.CustomResource {
  /** uid of the group */
  declare readonly uid: pulumi.Output<string>;
  /** uid of the group where the grants hold, and below */
  declare readonly parent: pulumi.Output<string>;
  /** The role bindings that the set manages, in the order of the program */
  declare readonly bindings: pulumi.Output<SetBinding[]>;
  /** The other role bindings of the group, as of the last update or refresh */
  declare readonly unmanaged: pulumi.Output<UnmanagedBinding[]>;
  /** Whether bindings that the set does not declare are removed */
  declare readonly exclusive: pulumi.Output<boolean>;
  /** Most bindings that a run removes; default: 20 */
  declare readonly maxRemovals: pulumi.Output<number>;
  /** RFC 3339, UTC: when the newest of its role bindings was created; undefined while there are none */
  declare readonly updateTime: pulumi.Output<string | undefined>;

  /** `name` is its logical name, unique among the sets of the stack. */
  constructor(name: string, args: RoleBindingSetArgs, opts: pulumi.CustomResourceOptions = {}) {
    const form = formOf(new.target);
    requireOneForm(form, TYPE, name, opts);
    const { parent, bindings, ...switches } = args;
    const group = referenceUid(parent, resources.group.type, "parent");
    const pairs = pairsFrom(bindings);
    markHandled([group, pairs]);
    const own = form.inputs("roleBindingSet", TYPE, name, opts);
    const given = { parent: group, bindings: pairs, ...switches };
    const literals = [...literalOf(group, "Group"), ...literalsIn(pairs)];
    const options = withAliases(form, TYPE, withNames(opts));
    const entered = currentProgram().enter({ type: TYPE, name, sharesUid: true, literals }, given, options);
    claimPlace(entered, TYPE, name, given);
    if (Array.isArray(pairs)) refuseTwice(name, entered, pairs);
    const unset = {
      uid: undefined,
      unmanaged: undefined,
      exclusive: undefined,
      maxRemovals: undefined,
      updateTime: undefined,
    };
    const described = form.looksUp ? secretArguments({}) : {};
    const bag = {
      ...unset,
      ...given,
      ...shownPairs(namesToCheck(form, TYPE, opts), name, entered, pairs),
      ...described,
      ...own,
    };
    const unpin = pinPosition(new.target);
    try {
      super(form.prefix + TYPE, name, bag, entered.opts);
    } finally {
      unpin();
    }
    failWith(bag);
    (this as { uid: pulumi.Output<string> }).uid = uidOf(this.id, this.uid);
    entered.constructed(this);
    const managed = async () => (await settled(this.bindings))?.map(({ uid }) => uid) ?? [];
    noteStored(resources.roleBinding.field, managed);
  }
}

/** The names of pairs whose changes are ignored are ignored too, pair by pair. */
const withNames = (opts: pulumi.CustomResourceOptions): pulumi.CustomResourceOptions => {
  const { ignoreChanges } = opts;
  if (ignoreChanges === undefined) return opts;
  const names = ignoreChanges
    .filter((path) => /^bindings\b/.test(path))
    .map((path) => path.replace("bindings", "names"));
  return { ...opts, ignoreChanges: [...ignoreChanges, ...names] };
};

type Pair = { identity: pulumi.Input<string>; role: pulumi.Input<string> };

// Anything else than a list of pairs is refused by the check, with its path.
const pairsFrom = (bindings: RoleBindingPair[]): Pair[] =>
  Array.isArray(bindings) ? bindings.map(pairFrom) : bindings;

const pairFrom = (pair: RoleBindingPair, i: number): Pair => {
  if (typeof pair !== "object" || pair === null) return pair;
  return {
    ...pair,
    identity: referenceUid(pair.identity, resources.identity.type, `bindings[${i}].identity`) as pulumi.Input<string>,
    role: referenceUid(pair.role, resources.role.type, `bindings[${i}].role`) as pulumi.Input<string>,
  };
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
    const roles = first.get(identity) ?? new Map<unknown, number>();
    first.set(identity, roles);
    const before = roles.get(role);
    if (before !== undefined) return [`bindings[${i}]: the same identity and role as bindings[${before}]`];
    roles.set(role, i);
    return [];
  });
  if (problems.length > 0) throw programError(`${TYPE} ${name}: ${problems.join("\n  - ")}`);
};

/** The pairs with their roles checked, and the names that a preview shows. */
const shownPairs = (which: CheckedNames, name: string, entered: Entered, pairs: readonly Pair[]): pulumi.Inputs => {
  if (!Array.isArray(pairs)) return {};
  const checked = (pair: Pair, i: number): Pair =>
    !pair?.role || entered.resourceOf(pair.role)
      ? pair
      : { ...pair, role: checkedRole(`${TYPE} ${name}: bindings[${i}].role`, pair.role, which) };
  return {
    bindings: pairs.map(checked),
    names: pairs.map((pair) => ({ identity: nameOf(entered, pair?.identity), role: nameOf(entered, pair?.role) })),
  };
};
