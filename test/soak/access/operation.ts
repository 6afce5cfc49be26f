// Random changes of an organization. An operation names records by number, so that it means something in every organization and
// a failing run shrinks.
import * as fc from "fast-check";
import {
  type Group,
  type Identity,
  isAncestorOrSelf,
  isRoot,
  type Json,
  parentOf,
  type Role,
} from "../../../schema/index.ts";
import type { Organization } from "./organization.ts";

/** Carries the operation out; without the records that it needs it does nothing. */
export type Operation = (organization: Organization) => void;

const CAPABILITIES = [
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_GROUP_INVITES_CREATE",
  "CAP_IAM_IDENTITY_LIST",
  "CAP_IAM_IDENTITY_UPDATE",
  "CAP_IAM_ROLE_BINDINGS_CREATE",
  "CAP_IAM_ROLE_BINDINGS_LIST",
  "CAP_IAM_ROLES_LIST",
  "CAP_REPO_CREATE",
  "CAP_REPO_LIST",
  "CAP_TAG_CREATE",
] as const;

const GITHUB = "https://token.actions.githubusercontent.com";

const claims = (match: Json): Json => ({ claimMatch: match });

/** One repository and branch, several, pull requests, other issuers, keys, an AWS role. */
export const RELATIONSHIPS: readonly Json[] = [
  claims({ issuer: GITHUB, subject: "repo:acme/images:ref:refs/heads/main" }),
  claims({ issuer: GITHUB, subject: "repo:acme/images:pull_request" }),
  claims({ issuer: GITHUB, subjectPattern: "repo:acme/[^/:]+:ref:refs/heads/main" }),
  claims({ issuer: GITHUB, subjectPattern: "repo:acme/images:pull_request" }),
  claims({ issuer: GITHUB, subjectPattern: "repo:acme/images:.*" }),
  claims({ issuer: "https://gitlab.com", subject: "project_path:acme/images:ref_type:branch:ref:main" }),
  claims({ issuerPattern: "https://oidc\\.example\\.com/id/[0-9]+", subject: "system:serviceaccount:prod:deployer" }),
  { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
  {
    awsIdentity: {
      awsAccount: "123456789012",
      arnPattern: "arn:aws:sts::123456789012:assumed-role/build/.*",
      userIdPattern: "AROA[A-Z]+:.*",
    },
  },
];

const n = fc.nat({ max: 1_000 });
const name = fc.constantFrom("a", "b", "c", "publisher", "owner", "viewer");
const relationship = fc.constantFrom(...RELATIONSHIPS);
const capabilities = fc.uniqueArray(fc.constantFrom(...CAPABILITIES), { minLength: 1, maxLength: 4 });

const operation = <P>(
  title: string,
  parameters: fc.Arbitrary<P>,
  carryOut: (organization: Organization, parameters: P) => void,
): fc.Arbitrary<Operation> =>
  parameters.map((own) => {
    const text = { [fc.toStringMethod]: () => `${title} ${JSON.stringify(own)}` };
    return Object.assign((organization: Organization) => carryOut(organization, own), text);
  });

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length];

const createGroup = operation("create group", fc.record({ parent: n, name }), (organization, { parent, name: own }) => {
  const place = pick(organization.uids("groups"), parent) as string;
  organization.serve("CreateGroup", { parent: place, group: { name: own } as Group });
});

const createIdentity = operation(
  "create identity",
  fc.record({ group: n, name, relationship }),
  (organization, { group, ...identity }) => {
    const parent = pick(organization.uids("groups"), group) as string;
    const record = { name: identity.name, ...identity.relationship } as Identity;
    organization.serve("CreateIdentity", { parent, identity: record });
  },
);

const createRole = operation(
  "create role",
  fc.record({ group: n, name, capabilities }),
  (organization, { group, ...role }) => {
    const parent = pick(organization.uids("groups"), group) as string;
    organization.serve("CreateRole", { parent, role: role as Role });
  },
);

/** Roles that may be bound at a group: built-in ones, its own, and those above. */
const rolesAt = (organization: Organization, group: string): string[] =>
  organization.roles().filter((uid) => isRoot(uid) || isAncestorOrSelf(parentOf(uid), group));

const bind = operation(
  "bind",
  fc.record({ group: n, identity: n, role: n, times: fc.constantFrom(1, 1, 1, 2) }),
  (organization, { group, identity, role, times }) => {
    const parent = pick(organization.uids("groups"), group) as string;
    const identityUid = pick(organization.identities(), identity);
    const roleUid = pick(rolesAt(organization, parent), role);
    if (identityUid === undefined || roleUid === undefined) return;
    for (let i = 0; i < times; i += 1)
      organization.serve("CreateRoleBinding", { parent, roleBinding: { identityUid, roleUid } as never });
  },
);

const rebind = operation(
  "rebind",
  fc.record({ binding: n, identity: n, role: n }),
  (organization, { binding, identity, role }) => {
    const uid = pick(organization.uids("role_bindings"), binding);
    const identityUid = pick(organization.identities(), identity);
    const roleUid = uid && pick(rolesAt(organization, parentOf(uid)), role);
    if (!uid || identityUid === undefined || !roleUid) return;
    const roleBinding = { uid, identityUid, roleUid } as never;
    organization.serve("UpdateRoleBinding", { roleBinding, updateMask: "identityUid,roleUid" });
  },
);

const unbind = operation("unbind", n, (organization, binding) => {
  const uid = pick(organization.uids("role_bindings"), binding);
  if (uid) organization.serve("DeleteRoleBinding", { uid });
});

const changeRole = operation(
  "change role",
  fc.record({ role: n, capabilities, name }),
  (organization, { role, capabilities: own, name: renamed }) => {
    const uid = pick(organization.uids("roles"), role);
    if (!uid) return;
    const changed = { uid, name: renamed, capabilities: own } as Role;
    organization.serve("UpdateRole", { role: changed, updateMask: "name,capabilities" });
  },
);

const changeIdentity = operation(
  "change identity",
  fc.record({ identity: n, relationship }),
  (organization, { identity, relationship: own }) => {
    const uid = pick(organization.uids("identities"), identity);
    const kinds = ["claimMatch", "servicePrincipal", "awsIdentity"];
    if (uid) organization.serve("UpdateIdentity", { identity: { uid, ...own } as never, updateMask: kinds.join() });
  },
);

const deleteIdentity = operation("delete identity", n, (organization, identity) => {
  const uid = pick(organization.uids("identities"), identity);
  if (uid) organization.serve("DeleteIdentity", { uid });
});

/** The new one has another uid, and only some of the bindings of the old one. */
const remakeIdentity = operation(
  "remake identity",
  fc.record({ identity: n, group: n, relationship, kept: n }),
  (organization, { identity, group, relationship: own, kept }) => {
    const uid = pick(organization.uids("identities"), identity);
    if (!uid) return;
    const bindings = organization.bindingsOf(uid);
    const record = { name: organization.nameOf("identities", uid), ...own } as Identity;
    organization.serve("DeleteIdentity", { uid });
    const parent = pick([parentOf(uid), ...organization.uids("groups")], group % 3 === 0 ? group : 0) as string;
    const made = organization.serve("CreateIdentity", { parent, identity: record });
    for (const { parent: place, roleUid } of bindings.slice(0, kept % (bindings.length + 1)))
      organization.serve("CreateRoleBinding", {
        parent: place,
        roleBinding: { identityUid: made.uid, roleUid } as never,
      });
  },
);

/** With all that is in it and below, the deepest first. */
const deleteGroup = operation("delete group", n, (organization, group) => {
  const [, ...below] = organization.uids("groups");
  const uid = pick(below, group);
  if (uid) organization.deleteTree(uid);
});

const deleteRole = operation("delete role", n, (organization, role) => {
  const uid = pick(organization.uids("roles"), role);
  if (!uid) return;
  for (const binding of organization.bindingsWith(uid)) organization.serve("DeleteRoleBinding", { uid: binding });
  organization.serve("DeleteRole", { uid });
});

/** Fills an organization. */
export const growth: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { arbitrary: createGroup, weight: 3 },
    { arbitrary: createIdentity, weight: 3 },
    { arbitrary: createRole, weight: 2 },
    { arbitrary: bind, weight: 6 },
  ),
  { minLength: 4, maxLength: 30, size: "max" },
);

/** Changes it. */
export const changes: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { arbitrary: bind, weight: 4 },
    { arbitrary: unbind, weight: 3 },
    { arbitrary: rebind, weight: 2 },
    { arbitrary: changeRole, weight: 2 },
    { arbitrary: changeIdentity, weight: 1 },
    createGroup,
    createIdentity,
    createRole,
    deleteIdentity,
    remakeIdentity,
    deleteGroup,
    deleteRole,
  ),
  { minLength: 1, maxLength: 12, size: "max" },
);
