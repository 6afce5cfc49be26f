// AccessPolicy with native resources.
import { systemClock } from "../../../client/clock.ts";
import { AccessPolicy as DynamicAccessPolicy } from "../access-policy.ts";
import { ExternalGroupRoleMapping, Group, Identity, Role, RoleBindingSet } from "../generated/native/classes.ts";
import { policyForms } from "../policy-form.ts";
import { invokeFunction, listFunction } from "./look-up.ts";

/**
 * AccessPolicy with resources that the plugin serves.
 *
 * Errors: those of AccessPolicy in pulumi-irm.
 *
 * @example
 * ```ts
 * new AccessPolicy("access", { file: "access.yaml" });
 * ```
 */
export class AccessPolicy extends DynamicAccessPolicy {}

policyForms.register(AccessPolicy, {
  classes: { ExternalGroupRoleMapping, Group, Identity, Role, RoleBindingSet },
  // Calls the provider of the component.
  client: async (component) => ({
    call: (operation, request) => invokeFunction(listFunction(operation), request, { parent: component }),
    clock: systemClock,
  }),
});
