// The resources of a policy. A renamed key keeps its record by an alias, if the policy names the former key. Their logical names follow
// from the component's name and the keys of the policy. They begin with the component's name, so that an alias of the component reaches
// them:
//
//   acme                          the organization          acme:identity/release          an identity
//   acme/platform/registry        a group                   acme:role/publisher            a custom role
//   acme:access/platform          the role bindings of a group; acme:access/ has the bindings of the organization
//   acme:people/sso/owner/SRE     the role of an external group: identity provider, role, group
import type * as pulumi from "@pulumi/pulumi";
import { mappingsOf, type Policy, ROOT } from "../../access/policy/policy.ts";
import type { Json } from "../../schema/index.ts";
import { withMatch } from "./adoption.ts";
import { perClass } from "./form.ts";
import { ExternalGroupRoleMapping } from "./generated/external-group-role-mapping.ts";
import { Group, type GroupArgs } from "./generated/group.ts";
import { Identity, type IdentityArgs } from "./generated/identity.ts";
import { Role } from "./generated/role.ts";
import { RoleBindingSet } from "./generated/role-binding-set.ts";
import type { FindProvider, ListClient, PolicyMatch } from "./policy-match.ts";
import { programSession } from "./session.ts";

interface PolicyOptions {
  /** name of the component */
  name: string;
  /** the former names of the component, from its aliases */
  formerNames: readonly string[];
  /** the component */
  parent: pulumi.Resource;
  /** dependencies of the component, which apply to all of them */
  dependsOn?: pulumi.CustomResourceOptions["dependsOn"];
  classes: PolicyForm["classes"];
  /** the existing records, if they are to be adopted */
  match?: PolicyMatch | undefined;
  /** finds the identity providers of the organization that the policy names */
  providersIn(organization: pulumi.Input<string>): FindProvider;
  exclusive?: boolean | undefined;
  maxRemovals?: number | undefined;
  allowReplace?: boolean | undefined;
  allowDuplicate?: boolean | undefined;
  deleteAdopted?: boolean | undefined;
}

/** The organization is a uid if the policy does not create it. Groups are by their paths, identities and roles by their keys. */
export const createPolicyResources = (policy: Policy, options: PolicyOptions) => {
  const { name, formerNames, match, allowReplace, allowDuplicate, deleteAdopted, classes } = options;
  const { parent, dependsOn } = options;
  const opts = { parent, ...(dependsOn !== undefined && { dependsOn }) };
  const common = ({ name, description }: { name: string; description?: string | undefined }) => ({
    name,
    ...given({ description, allowReplace, allowDuplicate, deleteAdopted }),
  });
  const orMatch = <Args extends object>(args: Args, found: Promise<Json | undefined> | undefined) =>
    found ? withMatch(args, found) : args;

  // The engine lets a resource inherit an alias only in the run that renames its component. A run that fails midway would leave the rest
  // without it.
  const withFormer = (current: string, former = current): pulumi.CustomResourceOptions => {
    const names = [name, ...formerNames].flatMap((own) => [former, current].map((one) => own + one.slice(name.length)));
    const aliases = [...new Set(names)].filter((one) => one !== current).map((one) => ({ name: one }));
    return { ...opts, ...(aliases.length > 0 && { aliases }) };
  };
  const { uid, name: ownName = "", description } = policy.organization;
  const rootArgs: GroupArgs = { root: true, ...common({ name: ownName, description }) };
  const organization = uid ?? new classes.Group(name, orMatch(rootArgs, match?.group(ROOT)), withFormer(name));
  const formerPath = formerPaths(policy);
  const groups = new Map<string, Group>();
  const groupOrOrganization = (path: string) => groups.get(path) ?? organization;

  for (const group of policy.groups.values()) {
    const args: GroupArgs = { parent: groupOrOrganization(group.parent), ...common(group) };
    const [current, former] = [`${name}/${group.path}`, `${name}/${formerPath(group.path)}`];
    groups.set(
      group.path,
      new classes.Group(current, orMatch(args, match?.group(group.path)), withFormer(current, former)),
    );
  }
  const roles = mapOf(policy.roles, (role) => {
    const args = { parent: groupOrOrganization(role.group), ...common(role), capabilities: [...role.capabilities] };
    const [current, former] = [`${name}:role/${role.key}`, role.was && `${name}:role/${role.was}`];
    return new classes.Role(current, orMatch(args, match?.role(role.key)), withFormer(current, former));
  });
  const identities = mapOf(policy.identities, (identity) => {
    // The policy's check has determined which relationship it is.
    const relationship = identity.relationship as unknown as Pick<IdentityArgs, "claimMatch">;
    const args = { parent: groupOrOrganization(identity.group), ...common(identity), ...relationship } as IdentityArgs;
    const [current, former] = [`${name}:identity/${identity.key}`, identity.was && `${name}:identity/${identity.was}`];
    return new classes.Identity(current, orMatch(args, match?.identity(identity.key)), withFormer(current, former));
  });

  const { exclusive, maxRemovals } = options;
  const byGroup = Map.groupBy(policy.bindings, ({ group }) => group);
  // An exclusive policy also removes the bindings of groups to which it gives no access.
  const places = exclusive === true ? [ROOT, ...policy.groups.keys()] : byGroup.keys();
  for (const path of places) {
    const bindings = (byGroup.get(path) ?? []).map(({ identity, role }) => ({
      identity: identities.get(identity) as Identity,
      role: roles.get(role) ?? role,
    }));
    const [current, former] = [path, formerPath(path)].map((one) => `${name}:access/${one === ROOT ? "" : one}`);
    const args = { parent: groupOrOrganization(path), bindings, ...given({ exclusive, maxRemovals }) };
    new classes.RoleBindingSet(current as string, args, withFormer(current as string, former));
  }

  const providerOf = options.providersIn(typeof organization === "string" ? organization : organization.uid);
  for (const mapping of mappingsOf(policy)) {
    const { provider, externalGroupId, role } = mapping;
    const args = {
      parent: providerOf(provider),
      externalGroupId,
      role: roles.get(role) ?? role,
      scope: organization,
      ...given({ deleteAdopted }),
    };
    const [current, former] = [role, policy.roles.get(role)?.was ?? role].map(
      (key) => `${name}:people/${provider}/${key}/${externalGroupId}`,
    );
    const matched = orMatch(args, match?.mapping(mapping));
    new classes.ExternalGroupRoleMapping(current as string, matched, withFormer(current as string, former));
  }
  return { organization, groups, identities, roles };
};

/** The arguments without undefined members. */
const given = <T extends object>(args: T): { [K in keyof T]: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as never;

/** The path of a group with the keys that it and those above it had before. */
const formerPaths = ({ groups }: Policy): ((path: string) => string) => {
  const former = (path: string): string => {
    const group = groups.get(path);
    if (group === undefined) return path;
    const key = group.was ?? (path.split("/").at(-1) as string);
    return group.parent === ROOT ? key : `${former(group.parent)}/${key}`;
  };
  return former;
};

const mapOf = <K, V, T>(records: ReadonlyMap<K, V>, create: (record: V) => T) =>
  new Map([...records].map(([key, record]) => [key, create(record)]));

// The differences between a policy of dynamic and one of native resources.

interface PolicyForm {
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
