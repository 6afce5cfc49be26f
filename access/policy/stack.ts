// The records of a policy in the state of a stack: the record of each key of its AccessPolicy, and the resources that the stack manages.
// Logical names follow from the component's name and the keys of the policy (provider/program/policy-resources.ts).

import type { StateResource } from "../../pulumi/state.ts";
import { ourType, partsOfUrn } from "../../pulumi/urn.ts";
import { parentOf } from "../../schema/index.ts";
import type { NodeId } from "../graph/graph.ts";
import { type Policy, ROOT } from "./policy.ts";

export interface PolicyStack {
  /** uid by path of the policy */
  groups: ReadonlyMap<string, string>;
  /** uid by key */
  identities: ReadonlyMap<string, string>;
  /** uid by key */
  roles: ReadonlyMap<string, string>;
}

export const COMPONENT = "irm:index:AccessPolicy";

/**
 * Uses the URNs of the state: a program chooses any other name, and could assign a key to another record. Undefined: the stack has no such
 * policy. Throws if several may be meant.
 */
export const policyStackIn = (all: readonly StateResource[], policy: Policy): PolicyStack | undefined => {
  const resources = all.filter((one) => one.delete !== true);
  const components = resources.filter(({ type }) => type === COMPONENT).filter((one) => isOf(one, resources, policy));
  if (components.length > 1)
    throw new Error(
      `the stack has ${components.length} policies of this organization: ${components.map(nameOf).join(", ")}; a review of one file needs a stack with one`,
    );
  const [component] = components;
  return (
    component &&
    stackOf(
      nameOf(component),
      resources.filter(({ parent }) => parent === component.urn),
    )
  );
};

const nameOf = ({ urn }: StateResource) => partsOfUrn(urn).name;

/** Whether the component and the policy have the same organization: by its uid, or by the name that the stack gave it. */
const isOf = (
  component: StateResource,
  resources: readonly StateResource[],
  { organization: { uid, name } }: Policy,
) => {
  if (uid !== undefined) return component.outputs?.organization === uid;
  const organization = resources.find((one) => one.parent === component.urn && nameOf(one) === nameOf(component));
  return organization?.inputs?.name === name;
};

const stackOf = (name: string, children: readonly StateResource[]): PolicyStack => {
  const [groups, identities, roles] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()];
  for (const resource of children) {
    const { id, type } = resource;
    const kind = ourType(type);
    if (!id || kind === undefined) continue;
    const logicalName = nameOf(resource);
    const keyAfter = (prefix: string) => logicalName.slice(name.length + prefix.length);
    if (kind === "Group") groups.set(logicalName === name ? ROOT : keyAfter("/"), id);
    if (kind === "Identity") identities.set(keyAfter(":identity/"), id);
    if (kind === "Role") roles.set(keyAfter(":role/"), id);
  }
  return { groups, identities, roles };
};

/** The record of a stack for one of these keys: it exists, and is in the group that the policy names. */
export const inStack = <N>(
  uids: ReadonlyMap<string, string> | undefined,
  keys: readonly (string | undefined)[],
  live: ReadonlyMap<NodeId, N>,
  group: NodeId,
): N | undefined => {
  const uid = keys.flatMap((key) => (key === undefined ? [] : (uids?.get(key) ?? []))).at(0);
  return uid !== undefined && parentOf(uid) === group ? live.get(uid) : undefined;
};
