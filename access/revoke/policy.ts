// The grants of a policy to an identity, the edit that removes them, and the edit that restores them.

import { existsSync } from "node:fs";
import { engineStateFrom, exportFrom, type StateResource } from "../../pulumi/state.ts";
import { ourType, partsOfUrn } from "../../pulumi/urn.ts";
import { valuesIn } from "../../pulumi/value.ts";
import { getOrInsert, isObject, printable } from "../../schema/index.ts";
import { type AccessGraph, type IdentityNode, type NodeId, nameOf, pathOf } from "../graph/graph.ts";
import { type AddedMap, PolicyEditError } from "../policy/edit/document.ts";
import { additionOf, removalOf } from "../policy/edit/entries.ts";
import { applyEdit, type OpenPolicy, openPolicy, type PolicyEdit, stackOf } from "../policy/edit/open.ts";
import { policyGraph } from "../policy/graph.ts";
import { COMPONENT } from "../policy/stack.ts";
import { bindingsOf, type HeldBinding, type Holder } from "./holder.ts";
import type { UndoFile } from "./undo-file.ts";

// The resources of a stack that would create removed grants again.

/**
 * `text` is the output of `pulumi stack export`. Returns `RoleBinding release-edits`, or the component that declares it: `AccessPolicy
 * acme`. The state may have another uid, of a binding that was removed and granted again by hand: equal grants of a resource also count.
 */
export const declarationsIn = (text: string, holder: Holder, held: readonly HeldBinding[]): string[] => {
  const isHeld = ({ uid, group, role, ...grant }: Grant) =>
    held.some(
      (one) =>
        one.binding === uid ||
        (grant.holder === holder.uid &&
          grant.externalGroup === holder.externalGroup &&
          group === one.group &&
          (role === one.role || role === one.roleName)),
    );
  const resources = engineStateFrom(exportFrom(text)).resources.filter((one) => one.delete !== true);
  const components = new Map(resources.filter(({ type }) => type === COMPONENT).map((one) => [one.urn, one]));
  const found = resources.filter((one) => grantsOf(one).some(isHeld));
  const names = found.map((one) => {
    const component = components.get(one.parent ?? "");
    return component
      ? `AccessPolicy ${partsOfUrn(component.urn).name}`
      : `${ourType(one.type)} ${partsOfUrn(one.urn).name}`;
  });
  return [...new Set(names)];
};

interface Grant {
  /** of its role binding or mapping */
  uid?: unknown;
  group?: unknown;
  /** uid of the identity, or of the identity provider */
  holder?: unknown;
  externalGroup?: unknown;
  /** uid, or the name of a built-in role */
  role?: unknown;
}

const grantsOf = ({ id, type, inputs, outputs }: StateResource): Grant[] => {
  const kind = ourType(type);
  const { parent, identity, role, roleUid = role, bindings, externalGroupId, scope } = valuesIn(inputs);
  const uid = id ?? undefined;
  if (kind === "RoleBinding") return [{ uid, group: parent, holder: identity, role }];
  if (kind === "ExternalGroupRoleMapping")
    return [{ uid, group: scope, holder: parent, externalGroup: externalGroupId, role: roleUid }];
  if (kind !== "RoleBindingSet") return [];
  const pairs = [bindings, valuesIn(outputs).bindings].flatMap((some) => (Array.isArray(some) ? some : []));
  return pairs.flatMap((pair) => (isObject(pair) ? [{ ...pair, group: parent, holder: pair.identity }] : []));
};

/** The change of a policy by a revocation, or by its undoing. */
export interface PolicyChange {
  /** empty if nothing changes */
  edit: PolicyEdit;
  /** the bindings that it removes */
  rows: UndoFile["policy"];
  /** uids of the live role bindings that it declares */
  declared: ReadonlySet<NodeId>;
  /** why the policy must be edited by hand */
  problem?: string | undefined;
}

/** Why the policy must be edited by hand; undefined: the edit was possible. */
const problemOf = (act: () => void) => {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyEditError)) throw error;
    return error.message;
  }
};

/** Nothing changes if there is no policy. */
const changeOf = (file: string, make: (opened: OpenPolicy) => Partial<PolicyChange>) => {
  const change: PolicyChange = { edit: { entries: [], files: [] }, rows: [], declared: new Set() };
  if (!existsSync(file)) return change;
  const problem = problemOf(() => Object.assign(change, make(openPolicy(file))));
  return { problem, ...change };
};

/** Returns why the policy did not change; undefined: it changed, or no change was needed. */
export const applyToPolicy = ({ edit, problem }: PolicyChange): string | undefined =>
  problem ?? problemOf(() => applyEdit(edit));

/** `only`: removes only this binding; a row that another binding also gives is kept. */
export const revocationIn = (
  file: string,
  graph: AccessGraph,
  identity: IdentityNode,
  only?: HeldBinding,
): PolicyChange =>
  changeOf(file, (opened) => {
    const twins = [...graph.identities.values()].filter(
      ({ group, name }) => group === identity.group && name === identity.name,
    );
    const stack = stackOf(opened);
    const { identities, groups, roles, graph: wanted } = policyGraph(opened.policy, graph, stack);
    // A name may belong to any of them. A uid does not.
    const doubtful = [...identities].find(
      ([key, id]) => twins.some((twin) => twin.id === id) && stack?.identities.get(key) !== id,
    );
    if (doubtful && twins.length > 1) {
      const where = `${pathOf(graph, identity.group)} has ${twins.length} identities of the name ${identity.name}`;
      return { problem: `${file}: identities.${doubtful[0]} may be another one: ${where}` };
    }
    const keys = [...identities].flatMap(([key, id]) => (id === identity.id ? key : []));
    const isGone = ({ group, role }: Row) =>
      only === undefined ||
      (groups.get(group) === only.group && roles.get(role) === only.role && !isGivenTwice(graph, identity.id, only));
    const bindings = opened.policy.bindings.filter((one) => keys.includes(one.identity) && isGone(one));
    const declared = bindingsOf(wanted, identity.id).map(({ binding }) => binding);
    return {
      edit: removalOf(opened, { bindings }),
      rows: bindings.map(({ group, role, identity: key }) => ({ group, role, identity: key })),
      declared: new Set(keys.length > 0 ? declared : []),
    };
  });

const isGivenTwice = (graph: AccessGraph, identity: NodeId, { group, role }: HeldBinding) =>
  bindingsOf(graph, identity).filter((one) => one.group === group && one.role === role).length > 1;

/** An edit removes only role bindings: if a policy gives the people of an external group a role, this names the entry. */
export const mappingIn = (file: string, graph: AccessGraph, mapping: NodeId): PolicyChange =>
  changeOf(file, (opened) => {
    const { graph: wanted } = policyGraph(opened.policy, graph, stackOf(opened));
    const { provider, externalGroupId, role } = wanted.externalGroups.get(mapping) ?? {};
    const named = wanted.providers.get(provider ?? "")?.name ?? "";
    const groups = opened.policy.people.get(named)?.externalGroups;
    if (role === undefined || externalGroupId === undefined || !groups?.has(externalGroupId)) return {};
    const entry = `people.${named}.externalGroups.${externalGroupId}: ${nameOf(wanted.roles, role)}`;
    return { problem: `take out ${printable(entry)}` };
  });

/** Restores the rows that the policy lacks. */
export const restorationIn = (file: string, rows: readonly Row[], graph: AccessGraph, identity: NodeId): PolicyChange =>
  changeOf(file, (opened) => {
    const { identities } = policyGraph(opened.policy, graph, stackOf(opened));
    const foreign = rows.find((row) => (identities.get(row.identity) ?? identity) !== identity);
    if (foreign) return { problem: `${file}: identities.${foreign.identity} is not ${identity}` };
    const held = new Set(opened.policy.bindings.map(rowKey));
    return { edit: additionOf(opened, entriesOf(rows.filter((row) => !held.has(rowKey(row))))) };
  });

type Row = UndoFile["policy"][number];

const rowKey = ({ group, role, identity }: Row) => JSON.stringify([group, role, identity]);

const entriesOf = (missing: readonly Row[]): AddedMap => {
  const groups = new Map<string, Map<string, string[]>>();
  for (const { group, role, identity } of missing) {
    const roles = getOrInsert(groups, group, () => new Map<string, string[]>());
    getOrInsert(roles, role, () => []).push(identity);
  }
  return new Map(missing.length > 0 ? [["access", groups]] : []);
};
