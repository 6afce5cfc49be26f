// The resources of a policy. Their logical names follow from the component's name and the keys of the policy, and begin with the
// component's name, so that an alias of the component reaches them:
//
//   acme                          the organisation          acme:identity/release          an identity
//   acme/platform/registry        a group                   acme:role/publisher            a custom role
//   acme:access/platform          the role bindings of a group; those of the organisation are acme:access/
import type * as pulumi from "@pulumi/pulumi";
import { type Policy, type PolicyGroup, ROOT } from "../../access/policy/index.ts";
import type { Json } from "../../schema/index.ts";
import { withMatch } from "./adoption.ts";
import type { Group, GroupArgs } from "./group.ts";
import type { Identity, IdentityArgs } from "./identity.ts";
import type { PolicyForm } from "./policy-form.ts";
import type { PolicyMatch } from "./policy-match.ts";
import type { Role } from "./role.ts";

export interface PolicyOptions {
  /** name of the component */
  name: string;
  /** the component */
  parent: pulumi.Resource;
  classes: PolicyForm["classes"];
  /** what exists, where it is to be adopted */
  match?: PolicyMatch | undefined;
  exclusive?: boolean | undefined;
  maxRemovals?: number | undefined;
  allowReplace?: boolean | undefined;
  deleteAdopted?: boolean | undefined;
}

export interface PolicyResources {
  /** a uid where the organisation is not the policy's own */
  organization: Group | string;
  /** by path */
  groups: Map<string, Group>;
  /** by key */
  identities: Map<string, Identity>;
  /** by key */
  roles: Map<string, Role>;
}

export const createPolicyResources = (policy: Policy, options: PolicyOptions): PolicyResources => {
  const { name, match, allowReplace, deleteAdopted, classes } = options;
  const opts = { parent: options.parent };
  const common = (record: { name: string; description?: string }) => ({
    name: record.name,
    ...(record.description !== undefined && { description: record.description }),
    ...(allowReplace !== undefined && { allowReplace }),
    ...(deleteAdopted !== undefined && { deleteAdopted }),
  });
  const orMatch = <Args extends object>(args: Args, found: Promise<Json | undefined> | undefined): Args =>
    found ? withMatch(args, found) : args;

  const organization = organizationOf(policy, (record) => {
    const args: GroupArgs = { root: true, ...common(record) };
    return new classes.Group(name, orMatch(args, match?.group(ROOT)), opts);
  });
  const groups = new Map<string, Group>();
  const placeOf = (path: string): Group | string => groups.get(path) ?? organization;

  for (const group of policy.groups.values()) {
    const args: GroupArgs = { parent: placeOf(group.parent), ...common(group) };
    groups.set(group.path, new classes.Group(`${name}/${group.path}`, orMatch(args, match?.group(group.path)), opts));
  }
  const roles = mapOf(policy.roles, (role) => {
    const args = { parent: placeOf(role.group), ...common(role), capabilities: [...role.capabilities] };
    return new classes.Role(`${name}:role/${role.key}`, orMatch(args, match?.role(role.key)), opts);
  });
  const identities = mapOf(policy.identities, (identity) => {
    // The policy's check has judged which relationship it is.
    const relationship = identity.relationship as unknown as Pick<IdentityArgs, "claimMatch">;
    const args = { parent: placeOf(identity.group), ...common(identity), ...relationship } as IdentityArgs;
    return new classes.Identity(`${name}:identity/${identity.key}`, orMatch(args, match?.identity(identity.key)), opts);
  });

  const { exclusive, maxRemovals } = options;
  const byGroup = Map.groupBy(policy.bindings, ({ group }) => group);
  // An exclusive policy also removes what is in a group that it gives no access to.
  const places = exclusive === true ? [ROOT, ...policy.groups.keys()] : byGroup.keys();
  for (const path of places) {
    const bindings = (byGroup.get(path) ?? []).map(({ identity, role }) => ({
      identity: identities.get(identity) as Identity,
      role: roles.get(role) ?? role,
    }));
    const switches = {
      ...(exclusive !== undefined && { exclusive }),
      ...(maxRemovals !== undefined && { maxRemovals }),
    };
    const suffix = path === ROOT ? "" : path;
    new classes.RoleBindingSet(`${name}:access/${suffix}`, { parent: placeOf(path), bindings, ...switches }, opts);
  }
  return { organization, groups, identities, roles };
};

const organizationOf = (
  { organization: { uid, name, description } }: Policy,
  create: (record: Pick<PolicyGroup, "name" | "description">) => Group,
): Group | string => uid ?? create({ name: name as string, ...(description !== undefined && { description }) });

const mapOf = <K, V, T>(records: ReadonlyMap<K, V>, create: (record: V) => T): Map<K, T> =>
  new Map([...records].map(([key, record]) => [key, create(record)]));
