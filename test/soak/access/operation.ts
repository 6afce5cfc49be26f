// Random changes of an organization. Without the records that it needs, an operation does nothing.
import {
  type Group,
  type Identity,
  isAncestorOrSelf,
  isRoot,
  type Json,
  parentOf,
  type Role,
} from "../../../schema/index.ts";
import type { Random } from "../../support/random.ts";
import type { Organization } from "./organization.ts";

type Operation = (organization: Organization, random: Random) => void;

const CAPABILITIES = [
  ...["GROUPS_LIST", "GROUP_INVITES_CREATE", "IDENTITY_LIST", "IDENTITY_UPDATE", "ROLE_BINDINGS_CREATE"],
  ...["ROLE_BINDINGS_LIST", "ROLES_LIST"],
]
  .map((name) => `CAP_IAM_${name}`)
  .concat("CAP_REPO_CREATE", "CAP_REPO_LIST", "CAP_TAG_CREATE");

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

const nameBy = ({ pick }: Random): string => pick(["a", "b", "c", "publisher", "owner", "viewer"]);
const capabilitiesBy = ({ shuffle, below }: Random): string[] => shuffle(CAPABILITIES).slice(0, 1 + below(4));

const createGroup: Operation = ({ serve, uids }, random) => {
  serve("CreateGroup", { parent: random.pick(uids("groups")), group: { name: nameBy(random) } as Group });
};

const createIdentity: Operation = ({ serve, uids }, random) => {
  const identity = { name: nameBy(random), ...random.pick(RELATIONSHIPS) } as Identity;
  serve("CreateIdentity", { parent: random.pick(uids("groups")), identity });
};

const createRole: Operation = ({ serve, uids }, random) => {
  const role = { name: nameBy(random), capabilities: capabilitiesBy(random) } as Role;
  serve("CreateRole", { parent: random.pick(uids("groups")), role });
};

/** An identity, and a role that may be bound at a group: a built-in one, its own, or one above. */
const linkAt = ({ identities, roles }: Organization, random: Random, group: string) => {
  const bindable = roles().filter((uid) => isRoot(uid) || isAncestorOrSelf(parentOf(uid), group));
  return { identityUid: random.pick(identities()), roleUid: random.pick(bindable) };
};

const bind: Operation = (organization, random) => {
  const parent = random.pick(organization.uids("groups"));
  const roleBinding = linkAt(organization, random, parent) as never;
  for (let left = random.below(4) === 0 ? 2 : 1; left > 0; left -= 1)
    organization.serve("CreateRoleBinding", { parent, roleBinding });
};

/** An operation on one of the records of a table. */
const onOne =
  (
    table: Parameters<Organization["uids"]>[0],
    work: (own: Organization, uid: string, random: Random) => void,
  ): Operation =>
  (organization, random) => {
    const uid = random.pick(organization.uids(table));
    if (uid) work(organization, uid, random);
  };

const rebind = onOne("role_bindings", (organization, uid, random) => {
  const roleBinding = { uid, ...linkAt(organization, random, parentOf(uid)) } as never;
  organization.serve("UpdateRoleBinding", { roleBinding, updateMask: "identityUid,roleUid" });
});

const unbind = onOne("role_bindings", ({ serve }, uid) => void serve("DeleteRoleBinding", { uid }));

const changeRole: Operation = ({ serve, uids }, random) => {
  const uid = random.pick(uids("roles"));
  const role = { uid, name: nameBy(random), capabilities: capabilitiesBy(random) } as Role;
  if (uid) serve("UpdateRole", { role, updateMask: "name,capabilities" });
};

const changeIdentity: Operation = ({ serve, uids }, random) => {
  const uid = random.pick(uids("identities"));
  const identity = { uid, ...random.pick(RELATIONSHIPS) } as never;
  if (uid) serve("UpdateIdentity", { identity, updateMask: "claimMatch,servicePrincipal,awsIdentity" });
};

const deleteIdentity = onOne("identities", ({ serve }, uid) => void serve("DeleteIdentity", { uid }));

/** The new one has another uid, and only some of the bindings of the old one. */
const remakeIdentity = onOne("identities", ({ serve, uids, nameOf, bindingsOf }, uid, random) => {
  const bindings = bindingsOf(uid);
  const identity = { name: nameOf(uid), ...random.pick(RELATIONSHIPS) } as Identity;
  serve("DeleteIdentity", { uid });
  const parent = random.below(3) === 0 ? random.pick(uids("groups")) : parentOf(uid);
  const { uid: identityUid } = serve("CreateIdentity", { parent, identity });
  for (const { parent: place, roleUid } of bindings.slice(0, random.below(bindings.length + 1)))
    serve("CreateRoleBinding", { parent: place, roleBinding: { identityUid, roleUid } as never });
});

/** With all that is in it and below, the deepest first. */
const deleteGroup: Operation = ({ uids, deleteTree }, random) => {
  const [, ...below] = uids("groups");
  if (below.length > 0) deleteTree(random.pick(below));
};

const deleteRole = onOne("roles", ({ serve, bindingsWith }, uid) => {
  for (const binding of bindingsWith(uid)) serve("DeleteRoleBinding", { uid: binding });
  serve("DeleteRole", { uid });
});

const carryOut =
  (least: number, most: number, weights: readonly (readonly [times: number, ...Operation[]])[]): Operation =>
  (organization, random) => {
    const all = weights.flatMap(([times, ...own]) => Array.from({ length: times }, () => own).flat());
    for (let left = least + random.below(most - least + 1); left > 0; left -= 1) random.pick(all)(organization, random);
  };

/** Fills an organization. */
export const grow = carryOut(4, 30, [
  [3, createGroup, createIdentity],
  [2, createRole],
  [6, bind],
]);

export const change = carryOut(1, 12, [
  [4, bind],
  [3, unbind],
  [2, rebind, changeRole],
  [1, changeIdentity, createGroup, createIdentity, createRole, deleteIdentity, remakeIdentity, deleteGroup, deleteRole],
]);
