// The resources of a stack that would create again what a revocation removes.

import { engineStateFrom, exportFrom, type StateResource } from "../../pulumi/state.ts";
import { ourType, partsOfUrn } from "../../pulumi/urn.ts";
import { valuesIn } from "../../pulumi/value.ts";
import { isObject } from "../../schema/index.ts";
import { COMPONENT } from "../policy/stack.ts";
import type { HeldBinding, Holder } from "./holder.ts";

/**
 * `text` is what `pulumi stack export` prints. `RoleBinding release-edits`, or the component that declares it: `AccessPolicy acme`. The
 * state may have another uid, of a binding that was removed and granted again by hand: what a resource grants counts too.
 */
export const declarationsIn = (text: string, holder: Holder, held: readonly HeldBinding[]): string[] => {
  const isHeld = ({ uid, group, role, ...grant }: Grant): boolean =>
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
