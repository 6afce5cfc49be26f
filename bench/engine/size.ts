// The stack that is measured: in each group three identities, and six role bindings or one set of them.
export interface Size {
  groups: number;
}

export const IDENTITIES = 3;
export const ROLES = ["viewer", "editor"] as const;

/** A group with what is in it. */
const IN_GROUP = 1 + IDENTITIES + IDENTITIES * ROLES.length;
const IN_GROUP_WITH_SET = 1 + IDENTITIES + 1;

/** The size with about as many resources, role bindings counted singly. */
export const sizeOf = (resources: number): Size => ({ groups: Math.max(1, Math.round(resources / IN_GROUP)) });

export const resourcesOf = ({ groups }: Size, withSets: boolean): number =>
  groups * (withSets ? IN_GROUP_WITH_SET : IN_GROUP);
