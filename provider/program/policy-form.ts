// What differs between a policy of dynamic and one of native resources.
import type * as pulumi from "@pulumi/pulumi";
import { perClass } from "./form.ts";
import { Group } from "./generated/group.ts";
import { Identity } from "./generated/identity.ts";
import { Role } from "./generated/role.ts";
import type { ListClient } from "./policy-match.ts";
import { RoleBindingSet } from "./role-binding-set.ts";
import { programSession } from "./session.ts";

export interface PolicyForm {
  classes: {
    Group: typeof Group;
    Identity: typeof Identity;
    Role: typeof Role;
    RoleBindingSet: typeof RoleBindingSet;
  };
  /** finds the records that the policy adopts */
  client(component: pulumi.Resource): Promise<ListClient>;
}

/** Of AccessPolicy and the classes that extend it. */
export const policyForms = perClass<PolicyForm>({
  classes: { Group, Identity, Role, RoleBindingSet },
  client: programSession,
});
