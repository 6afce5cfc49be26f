// AccessPolicy with native resources.
import { systemClock } from "../../../client/clock.ts";
import { AccessPolicy as DynamicAccessPolicy } from "../access-policy.ts";
import { policyForms } from "../policy-form.ts";
import { Group, Identity, Role, RoleBindingSet } from "./classes.ts";
import { invoked, listFunction } from "./invoke.ts";

export class AccessPolicy extends DynamicAccessPolicy {}

policyForms.register(AccessPolicy, {
  classes: { Group, Identity, Role, RoleBindingSet },
  // Of the component's provider.
  client: async (component) => ({
    call: (operation, request) => invoked(listFunction(operation), request, { parent: component }),
    clock: systemClock,
  }),
});
