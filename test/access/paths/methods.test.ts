// What each method that changes something lets its caller gain: the served ones, and the published ones of access that no reference server
// serves, by service and name. A new one must be classified before it can be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operations, unservedMethods } from "../../../schema/index.ts";

/** The search sends a request of it. */
const STEPS: Readonly<Record<string, string>> = {
  CreateRoleBinding: "gives a role at a group",
  UpdateRoleBinding: "gives another role, or takes a binding out of the way",
  DeleteRoleBinding: "takes a binding out of the way of a change of claims",
  CreateRole: "makes a role that grants just what is held",
  UpdateRole: "gives capabilities to all who have the role",
  UpdateIdentity: "decides who may assume the identity",
  UpdateIdentityProvider: "decides who may sign in, and get the roles of its external groups",
  ExchangeGet: "a workload becomes an identity that trusts it",
  "auth.Auth/Register": "a person accepts an invite, with its code",
  "iam.IdentityProvidersService/GenerateScimToken": "puts people into the external groups of an identity provider",
};

/** What it leads to, a step leads to in no more requests. */
const COVERED: Readonly<Record<string, string[]>> = {
  "does what a step does": ["BatchCreateRoleBindings", "Exchange", "iam.IdentityProvidersService/RegenerateScimToken"],
  "does what the step of the same kind does, by the same capability": [
    ...["iam.Roles/Create", "iam.Roles/Update", "iam.Identities/Update", "iam.RoleBindings/Create"],
    ...["iam.RoleBindings/CreateBatch", "iam.RoleBindings/Update", "iam.RoleBindings/Delete"],
  ],
  "a new identity holds nothing; a role that it gets can be given to the caller": [
    "CreateIdentity",
    "iam.Identities/Create",
  ],
  "takes role_bindings.create at its group, which gives its role by itself": [
    ...["CreateIdentityProvider", "CreateGroupInvite", "iam.GroupInvites/Create"],
  ],
  "takes all that the role grants, where it is granted; the contract says so itself": [
    "CreateExternalGroupRoleMapping",
  ],
  "a group of one's own holds nothing; a new organization has only what its founder makes": [
    "CreateGroup",
    "iam.Groups/Create",
  ],
  "renews a token of the same identity": ["ExchangeRefreshToken"],
  "goes with GenerateScimToken, by the same capability": ["iam.IdentityProvidersService/SetScimEnabled"],
};

/** It leads to no capability. */
const NONE: Readonly<Record<string, string[]>> = {
  "only a role that nobody has can be deleted": ["DeleteRole", "iam.Roles/Delete"],
  "takes the bindings of the identity away with it": ["DeleteIdentity", "iam.Identities/Delete"],
  "people can no longer sign in there": ["DeleteIdentityProvider"],
  "takes roles, a promise of one, a token or an account away": [
    ...["DeleteExternalGroupRoleMapping", "BatchDeleteExternalGroupRoleMappings", "DeleteGroupInvite"],
    ...["iam.GroupInvites/Delete", "iam.IdentityProvidersService/RevokeScimToken", "auth.Auth/Delete"],
  ],
  "changes names, kinds and texts": [
    ...["UpdateGroup", "UpdateRepoReadme", "iam.Groups/Update", "iam.IdentitiesService/UpdateIdentityMetadata"],
  ],
  "only an empty group can be deleted": ["DeleteGroup", "iam.Groups/Delete"],
  "lets the platform act at a cloud, and nobody here, or asks the cloud": [
    ...["CreateAccountAssociation", "UpdateAccountAssociation", "DeleteAccountAssociation", "CheckAccountAssociation"],
    ...["Create", "Update", "Delete", "Check"].map((name) => `iam.GroupAccountAssociations/${name}`),
  ],
  "holds images and their names, and no capability": [
    ...["CreateRepo", "UpdateRepo", "DeleteRepo", "CreateTag", "DeleteTag"],
  ],
  "asks an owner, who decides": ["iam.GroupsService/RequestGroupAccess", "iam.Groups/RequestGroupAccess"],
  "accepts a contract": ["iam.TermsService/AcceptTerms"],
};

const METHODS: readonly string[] = [...Object.keys(STEPS), ...Object.values({ ...COVERED, ...NONE }).flat()];

test("every served and every published method of access that does not only read is classified, and the exchange by GET", () => {
  const served = Object.entries(operations).flatMap(([name, { method }]) => (method === "GET" ? [] : name));
  const published = unservedMethods
    .filter(({ service, method }) => /^(?:iam|auth)\./.test(service) && method !== "GET")
    .map(({ service, name }) => `${service}/${name}`);
  expect(METHODS.toSorted()).toEqual([...served, ...new Set(published), "ExchangeGet"].toSorted());
});

test("the search sends a request of each method that is a step, and of no other", () => {
  const folder = new URL("../../../access/paths/", import.meta.url);
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  const sent = sources.flatMap((text) => [...text.matchAll(/operation: "([^"]+)"/g)].map(([, name]) => name));
  expect([...new Set(sent)].toSorted()).toEqual(Object.keys(STEPS).toSorted());
});
