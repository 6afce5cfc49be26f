// What differs between a policy of dynamic and one of native resources.
import type * as pulumi from "@pulumi/pulumi";
import { perClass } from "./form.ts";
import { ExternalGroupRoleMapping } from "./generated/external-group-role-mapping.ts";
import { Group } from "./generated/group.ts";
import { Identity } from "./generated/identity.ts";
import { Role } from "./generated/role.ts";
import { RoleBindingSet } from "./generated/role-binding-set.ts";
import type { ListClient } from "./policy-people.ts";
import { programSession } from "./session.ts";

export interface PolicyForm {
  classes: {
    ExternalGroupRoleMapping: typeof ExternalGroupRoleMapping;
    Group: typeof Group;
    Identity: typeof Identity;
    Role: typeof Role;
    RoleBindingSet: typeof RoleBindingSet;
  };
  /** finds the records that the policy adopts, and those that it names */
  client(component: pulumi.Resource): Promise<ListClient>;
}

/** The form of AccessPolicy and of each class that extends it. */
export const policyForms = perClass<PolicyForm>({
  classes: { ExternalGroupRoleMapping, Group, Identity, Role, RoleBindingSet },
  client: programSession,
});
