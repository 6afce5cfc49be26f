// Paths to more access in graphs that are written by hand. The soak part `paths` compares them with a server.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import type { Path } from "../../../access/paths/path.ts";
import { capabilities, classOf, operations, unservedMethods } from "../../../schema/index.ts";
import { addIdentity, addInvite, bind, graphOf, uid } from "../graphs.ts";
import {
  ACME,
  CI,
  grant,
  HELPER,
  hidden,
  ISSUER,
  MIRROR,
  OWNER,
  PARTNER,
  partners,
  pathsIn,
  REGISTRY,
  search,
  shape,
} from "./graph.ts";

const helped = (...held: string[]): GraphBuilder => {
  const graph = partners();
  grant(graph, HELPER, PARTNER, ...held);
  return graph;
};
const strictTo = (graph: GraphBuilder, to: string): Path[] =>
  pathsIn(graph, { from: { identity: HELPER }, to }).filter(({ assumes }) => assumes === "strict");

const GRANTING = capabilities.map(({ name }) => name).filter((name) => classOf(name) === "grant");

const TAKEOVER = "PATCH /identities, GET /sts/exchange";

test("a trusted identity is taken by one that may change it, with issuer and subject of the workload that starts", () => {
  expect(pathsIn(helped("identity.update"))).toEqual([
    {
      from: { identity: HELPER },
      gains: [{ capability: "tag.create", group: REGISTRY }],
      assumes: "strict",
      steps: [
        {
          as: HELPER,
          method: "PATCH",
          path: `/iam/v2beta1/identities/${MIRROR}?updateMask=claimMatch`,
          body: { claimMatch: { issuer: ISSUER, subject: "helper" } },
          why: "helper may change identity mirror, and lets the workload assume it",
        },
        {
          as: "workload",
          method: "GET",
          path: `/sts/exchange?aud=https%3A%2F%2Firm.example&identity=${MIRROR}`,
          body: null,
          why: "the workload assumes identity mirror",
        },
      ],
      assumptions: [],
      end: MIRROR,
      workload: { issuer: ISSUER, subject: "helper" },
    },
  ]);
});

test.each<[string, readonly string[], string[]]>([
  ["is out of reach without the right to change it", ["identity.list"], []],
  ["is cautious while it holds more in its own organization", ["identity.update"], [`cautious: ${TAKEOVER}`]],
  [
    "is in reach once a binding that is in the way is deleted",
    ["identity.update", "role_bindings.delete"],
    [`cautious: ${TAKEOVER}`, `strict: DELETE /roleBindings, ${TAKEOVER}`],
  ],
  ["is in reach of a caller that holds the same", ["identity.update", "repo.create"], [`strict: ${TAKEOVER}`]],
])("a trusted identity %s", (_, held, expected) => {
  const graph = helped(...held);
  if (held[0] !== "identity.list") grant(graph, MIRROR, CI, "repo.create");
  expect(pathsIn(graph).map(shape)).toEqual(expected);
});

test("a trusted identity is in reach once a binding in the way is changed to a role of the caller", () => {
  const graph = partners();
  const { binding } = grant(graph, MIRROR, CI, "repo.create");
  const { role } = grant(graph, HELPER, PARTNER, "identity.update", "role_bindings.update");
  expect(strictTo(graph, "tag.create")[0]?.steps[0]).toMatchObject({
    ...{ as: HELPER, method: "PATCH", path: `/iam/v2beta1/roleBindings/${binding}` },
    body: { identityUid: HELPER, roleUid: role },
  });
});

test("a trusted identity leads on to another one", () => {
  const [graph, third, bridge] = [helped("identity.update"), "c".repeat(40), uid("registry/bridge", ACME)];
  graphOf({ name: "third", root: third }, graph);
  addIdentity(graph, bridge, "bridge", REGISTRY, { issuer: ISSUER, subject: "bridge" });
  grant(graph, bridge, third, "repo.delete");
  grant(graph, MIRROR, REGISTRY, "identity.update");
  expect(pathsIn(graph, { from: { identity: HELPER }, to: "repo.delete" })).toMatchObject([
    {
      assumes: "strict",
      gains: [{ group: third }],
      steps: [{ as: HELPER }, { as: "workload" }, { as: MIRROR }, { as: "workload" }],
    },
  ]);
});

test("a trusted identity is taken by what two identities of one workload hold together", () => {
  const graph = helped("identity.update");
  grant(graph, MIRROR, CI, "repo.create");
  const twin = uid("twin", PARTNER);
  addIdentity(graph, twin, "twin", PARTNER, { issuer: ISSUER, subject: "helper" });
  grant(graph, twin, PARTNER, "role_bindings.create", "repo.create");
  const strict = strictTo(graph, "tag.create");
  expect(strict.map(shape)).toEqual([`strict: GET /sts/exchange, POST /roleBindings, ${TAKEOVER}`]);
  expect(strict[0]?.steps[1]).toMatchObject({ as: twin, body: { identityUid: HELPER } });
});

test("a trusted identity is only cautiously in reach where its bindings are not all visible", () => {
  const graph = helped("identity.update");
  for (const place of ["", PARTNER, CI])
    expect(pathsIn(graph, undefined, { notVisible: [hidden("roleBinding", place)] })).toMatchObject([
      { assumes: "cautious", assumptions: expect.arrayContaining([expect.stringContaining("not visible")]) },
    ]);
  expect(pathsIn(graph, {}, { notVisible: [hidden("roleBinding", ACME)] })).toMatchObject([{ assumes: "strict" }]);
});

test.each<[capability: string, request: string]>([
  ["role_bindings.create", "POST /roleBindings"],
  ["role_bindings.update", "PATCH /roleBindings"],
  ["roles.update", "PATCH /roles"],
])("without anti-escalation, %s leads to all that an owner has, at its own group alone", (capability, request) => {
  const graph = partners();
  grant(graph, HELPER, CI, capability, "groups.list");
  const owner = pathsIn(graph, { from: { identity: HELPER }, to: "owner", at: CI });
  expect(owner.map(shape)).toEqual([`cautious: ${request}`]);
  expect(owner[0]?.assumptions).toEqual(["the service lets a caller grant what it does not hold"]);
  for (const one of GRANTING.filter((name) => name !== capability))
    expect(owner[0]?.gains).toContainEqual({ capability: one, group: CI });
  expect(pathsIn(graph, { from: { identity: HELPER }, to: "owner", at: PARTNER })).toEqual([]);
});

test("without anti-escalation, within one organization, strictly nothing leads to anything", () => {
  const graph = helped(...GRANTING, "roles.create", "role_bindings.delete", "identity.create");
  const boss = uid("boss", PARTNER);
  addIdentity(graph, boss, "boss", PARTNER, { issuer: ISSUER, subject: "boss" });
  bind(graph, PARTNER, boss, OWNER);
  graph.bindings.delete([...graph.bindings.keys()].find((id) => id.includes(MIRROR)) as string);
  const all = pathsIn(graph);
  expect(all.length).toBeGreaterThan(0);
  expect(all.filter(({ assumes }) => assumes === "strict")).toEqual([]);
});

test.each<[string, readonly string[], string]>([
  [
    "a change of an identity provider, and a sign-in",
    ["identity_providers.update", "role_bindings.create"],
    "cautious: PATCH /identityProviders, GET /sts/exchange",
  ],
  [
    "a token of its provisioning, and a sign-in",
    ["identity_providers.scim.manage", "identity_providers.list"],
    "cautious: POST /identityProviders, GET /sts/exchange",
  ],
])("what a person has to do: %s is a cautious path to the roles of its external groups", (_, held, expected) => {
  const [graph, provider] = [partners(), uid("ci/sso", PARTNER)];
  const signIn = { issuer: "https://login.example", clientId: "c", groupsClaim: "groups" };
  graph.providers.set(provider, { id: provider, uid: provider, name: "sso", group: CI, signIn, defaultRole: null });
  const id = `${provider}/sre`;
  graph.externalGroups.set(id, { id, uid: id, provider, externalGroupId: "sre", role: OWNER, group: PARTNER });
  grant(graph, HELPER, CI, ...held);
  expect(pathsIn(graph, { from: { identity: HELPER }, to: "owner", at: PARTNER }).map(shape)).toEqual([expected]);
});

test("what a person has to do: an open invite is a cautious path for those who can list it, until it ends", () => {
  const graph = helped("group_invites.list");
  const invite = { singleUse: false, expirationTime: "1970-01-02T00:00:00Z" };
  const add = (email: string) => addInvite(graph, uid("ci/ab12", PARTNER), "ab12", CI, OWNER, { ...invite, email });
  add("");
  const query = { from: { identity: HELPER }, to: "owner", at: CI };
  expect(pathsIn(graph, query)).toMatchObject([
    { assumes: "cautious", steps: [{ as: "workload", path: "/auth/v1/register" }] },
  ]);
  expect(pathsIn(graph, query, { nowMs: Date.parse(invite.expirationTime) })).toEqual([]);
  add("ann@acme.example");
  expect(pathsIn(graph, query)).toEqual([]);
});

test("a path from a workload begins with its exchange", () => {
  const graph = helped("identity.update");
  const relationship = { claimMatch: { issuer: ISSUER, subjectPattern: "help.*" } };
  expect(pathsIn(graph, { from: { relationship }, to: "tag.create" })).toMatchObject([
    {
      from: { workload: { issuer: ISSUER, subject: expect.stringMatching(/^help/) } },
      steps: [{ as: "workload" }, { as: HELPER, body: { claimMatch: { subject: "helper" } } }, { as: "workload" }],
    },
  ]);
});

test("a path of an identity whose workload is not visible is cautious", () => {
  const graph = helped("identity.update");
  graph.identities.set(HELPER, { ...(graph.identities.get(HELPER) as never as object), relationship: null } as never);
  expect(pathsIn(graph)).toMatchObject([
    { assumes: "cautious", assumptions: [expect.stringContaining("the caller has its own workload")] },
  ]);
});

test("a path is the same in every order of the records, and the shortest come first", () => {
  const graph = partners();
  for (const [i, capability] of GRANTING.entries()) grant(graph, HELPER, i % 2 ? CI : PARTNER, capability);
  const reversed = newGraph();
  for (const kind of Object.keys(graph) as (keyof typeof graph)[])
    for (const [id, node] of [...graph[kind]].reverse()) reversed[kind].set(id, node as never);
  const paths = pathsIn(graph, {});
  expect(pathsIn(reversed, {})).toEqual(paths);
  const lengths = paths.map(({ steps }) => steps.length);
  expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
});

test("a path that the search had no steps left for is reported as not searched", () => {
  expect(search(helped("identity.update"), {}, { steps: 3 }).notSearched).toEqual([
    expect.stringContaining("the search for paths ended after 3 steps"),
  ]);
});

// What each method that changes something lets its caller gain: the served ones, and the published ones of access that no reference server
// serves, by service and name. A new one must be classified before it can be forgotten.

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
  "a new identity holds nothing; a role of it can be given to the caller": ["CreateIdentity", "iam.Identities/Create"],
  "takes role_bindings.create at its group, which gives its role by itself": [
    ...["CreateIdentityProvider", "CreateGroupInvite", "iam.GroupInvites/Create"],
  ],
  "takes all that the role grants, where it is granted; the contract says so": ["CreateExternalGroupRoleMapping"],
  "a group of one's own holds nothing; an organization what its founder makes": ["CreateGroup", "iam.Groups/Create"],
  "renews a token of the same identity": ["ExchangeRefreshToken"],
  "goes with GenerateScimToken, by the same capability": ["iam.IdentityProvidersService/SetScimEnabled"],
};

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
