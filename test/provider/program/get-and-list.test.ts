// Look-ups and lists of a program, and what AccessPolicy adopts. The engine is a mock, the service is not.
import * as pulumi from "@pulumi/pulumi";
import { afterAll, expect, it, vi } from "vitest";
import { parsePolicy } from "../../../access/policy/parse.ts";
import type { PolicyDocument } from "../../../provider/index.ts";
import * as irm from "../../../provider/index.ts";
import type { KindName } from "../../../provider/kind/index.ts";
import { adoption } from "../../../provider/program/adoption.ts";
import { awaitValue } from "../../../provider/program/output.ts";
import { policyMatch, policyMatchByUid, providersListedBy } from "../../../provider/program/policy-match.ts";
import { startService } from "../../harness/provider.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { digest } from "../kind/case.ts";
import { create, document, issuer, registered, startEngine } from "./policy-engine.ts";

const service = await startService();
afterAll(async () => {
  for (const name of Object.keys(service.env)) delete process.env[name];
  await service.close();
});
const { call } = service;
const uidOf = async (...request: Parameters<typeof call>): Promise<string> => (await call(...request)).uid;

const uidsIn = async (list: AsyncIterable<{ uid: string }>) => (await Array.fromAsync(list)).map(({ uid }) => uid);
const later = <T>(known: T) => pulumi.output(known);

const org: string = service.organization as string;
Object.assign(process.env, service.env);
await mockEngine(() => ({ id: "", state: {} }));
for (let i = 0; i < 7; i++) await call("CreateGroup", { parent: org, group: { name: `g${i}` } });

// One record of each kind that is never at the root.
const viewer: string = await service.role("viewer");
const group: string = await uidOf("CreateGroup", { parent: org, group: { name: "g" } });
const repo: string = await uidOf("CreateRepo", { parent: group, repo: { name: "nginx" } });
const tag: string = await uidOf("CreateTag", { parent: repo, tag: { name: "1.2.3-r0", digest: digest("a") } });
const invite = await uidOf("CreateGroupInvite", {
  parent: group,
  groupInvite: { roleUid: viewer, ttl: "60s" },
});
const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "s" };
const identityProvider = { name: "login", defaultRole: viewer, oidc };
const provider: string = await uidOf("CreateIdentityProvider", { parent: group, identityProvider });
await uidOf("CreateAccountAssociation", { parent: group, accountAssociation: { name: "clouds" } });

it("lists exist for every kind, with the filters of the API, and read all pages", async () => {
  const uidp = { descendantsOf: org };
  expect((await Array.fromAsync(irm.listIdentities({ uidp }))).map(({ name }) => name)).toEqual(["owner"]);
  expect(await uidsIn(irm.listRoles({ uidp: { inRoot: true }, name: "viewer" }))).toEqual([viewer]);
  expect((await Array.fromAsync(irm.listRoleBindings({ uidp }))).map(({ role }) => role.name)).toEqual(["owner"]);
  expect(await uidsIn(irm.listRepos({ uidp, name: "nginx" }))).toEqual([repo]);
  expect(await uidsIn(irm.listIdentityProviders({ uidp }))).toEqual([provider]);
  expect(await uidsIn(irm.listGroupInvites({ uidp }))).toEqual([invite]);
  expect(await uidsIn(irm.listAccountAssociations({ uidp: { ids: [group] } }))).toEqual([group]);
  expect(await uidsIn(irm.listTags({ uidp }))).toEqual([]);
  expect(await uidsIn(irm.listTags({ uidp, includeEpochs: true }))).toEqual([tag]);
  const groups = await Array.fromAsync(
    irm.listGroups({ uidp: { childrenOf: org }, pageSize: 2, orderBy: "name desc" }),
  );
  expect(groups.map(({ name }) => name)).toEqual(["g6", "g5", "g4", "g3", "g2", "g1", "g0", "g"]);
});

it("lists of role bindings take the name of a built-in role; errors are the operation and the API's message", async () => {
  expect((await Array.fromAsync(irm.listRoleBindings({ role: "owner" }))).map(({ role }) => role.name)).toEqual([
    "owner",
  ]);
  await expect(Array.fromAsync(irm.listRoleBindings({ role: "ownr" }))).rejects.toThrow(
    'no built-in role is named "ownr"; did you mean owner?',
  );
  await expect(Array.fromAsync(irm.listGroups({ orderBy: "colour" }))).rejects.toThrow(
    /^ListGroups: INVALID_ARGUMENT: Invalid argument: orderBy/,
  );
});

it("look-ups find each kind by its uid, and by its name where it has one, directly in a group", async () => {
  expect(await irm.getGroup({ parent: org, name: "g3" })).toMatchObject({ name: "g3", verified: false });
  expect((await irm.getIdentity({ parent: org, name: "owner" })).uid).toBe(service.identity);
  expect(await irm.getRepo({ uid: repo })).toMatchObject({ uid: repo, name: "nginx" });
  expect(await irm.getRepo({ name: "nginx", parent: group })).toMatchObject({ uid: repo });
  // Lists leave such a tag out by default.
  expect(await irm.getTag({ name: "1.2.3-r0", repo })).toMatchObject({ uid: tag, digest: digest("a") });
  expect(await irm.getTag({ uid: tag })).toMatchObject({ uid: tag });
  expect(await irm.getIdentityProvider({ name: "login", parent: group })).toMatchObject({ uid: provider });
  expect(await irm.getIdentityProvider({ uid: provider })).toMatchObject({ name: "login" });
  expect(await irm.getGroupInvite({ uid: invite })).toMatchObject({ uid: invite, role: { name: "viewer" } });
  expect(await irm.getAccountAssociation({ group })).toMatchObject({ uid: group, name: "clouds" });
});

it("look-ups without a parent search the root alone: a built-in role, never its namesake in a group", async () => {
  const { name } = await call("GetGroup", { uid: org });
  expect((await irm.getGroup({ name: name as string })).uid).toBe(org);
  await expect(irm.getGroup({ name: "g3" })).rejects.toThrow('no group named "g3" at the root; exactly one is needed');
  const role = { name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] };
  const uid = await uidOf("CreateRole", { parent: org, role });
  expect((await irm.getRole({ name: "viewer" })).uid).toBe(viewer);
  expect((await irm.getRole({ name: "viewer", parent: org })).uid).toBe(uid);
});

const ABSENT = `${repo}/ffffffffffffffff`;
const EDITOR = 'no role named "editr" at the root; exactly one is needed; did you mean "editor"?';
const NONE = new RegExp(`^no group named "nothing like it" in ${org}; exactly one is needed$`);
const SIXTH = /^no group named "g66" in .*; did you mean "g6"/;
const undefinedParent = () => irm.getRole({ name: "viewer", parent: undefined });
const NO_PARENT = "parent of the role to look for was passed as undefined";
it.each<[string, () => Promise<unknown>, string | RegExp]>([
  ["the nearest name at the root", () => irm.getRole({ name: "editr" }), EDITOR],
  ["the nearest in a group", () => irm.getGroup({ parent: org, name: "g66" }), SIXTH],
  ["no name where none is like it", () => irm.getGroup({ parent: org, name: "nothing like it" }), NONE],
  ["a uid of no record", () => irm.getTag({ uid: ABSENT }), `no tag has the uid ${ABSENT}`],
  ["what is no uid", () => irm.getGroupInvite({ uid: "x" }), "uid of the group invite to look for must be a uid"],
  ["a missing name", () => irm.getRole({} as never), "name of the role to look for is required"],
  ["a missing parent", () => irm.getRepo({ name: "nginx" } as never), "parent of the repo to look for is required"],
  ["a parent that is undefined by mistake, and do not search the root", undefinedParent, NO_PARENT],
])("look-ups report %s", (_, lookUp, text) => expect(lookUp()).rejects.toThrow(text));

it("look-ups list the matches when there are several", async () => {
  const twin = { parent: org, group: { name: "twin" } };
  const twins = [await uidOf("CreateGroup", twin), await uidOf("CreateGroup", twin)];
  const error = await irm.getGroup({ parent: org, name: "twin" }).catch((thrown: Error) => thrown);
  const [head, ...list] = (error as Error).message.split("\n");
  expect(head).toBe(`2 groups named "twin" in ${org}; exactly one is needed`);
  expect(list.sort()).toEqual(twins.map((uid) => `  - ${uid} "twin"`).sort());
});

it("look-ups accept inputs that are known later", async () => {
  const name = Promise.resolve("g2");
  expect(await awaitValue(irm.getGroupOutput({ parent: later(org), name }).name)).toBe("g2");
  const found = [
    irm.getRoleOutput({ name: "viewer" }),
    irm.getIdentityOutput({ parent: org, name: "owner" }),
    irm.getRepoOutput({ name: later("nginx"), parent: later(group) }),
    irm.getTagOutput({ name: "1.2.3-r0", repo: later(repo) }),
    irm.getAccountAssociationOutput({ group: later(group) }),
    irm.getGroupInviteOutput({ uid: later(invite) }),
    irm.getIdentityProviderOutput({ uid: later(provider) }),
  ];
  const uids = await Promise.all(found.map(({ uid }) => awaitValue(uid)));
  expect(uids).toEqual([viewer, service.identity, repo, tag, group, invite, provider]);
});

it("look-ups of adopt: match find the one record by its distinguishing fields", async () => {
  const found = (kind: KindName, inputs: pulumi.Inputs) =>
    awaitValue(adoption(true, kind, "x", { adopt: "match", ...inputs }, {}).adopt as pulumi.Output<string>);
  expect(await found("repo", { parent: group, name: "nginx" })).toBe(repo);
  expect(await found("tag", { parent: repo, name: "1.2.3-r0" })).toBe(tag);
  expect(await found("groupInvite", { parent: group, role: "viewer", ttl: "1s" })).toBe(invite);
  expect(await found("identityProvider", { parent: group, name: "login" })).toBe(provider);
  expect(await found("accountAssociation", { parent: group, name: "another" })).toBe(group);
});

const uid = org;
const policyGroup = async (parent: string, name: string) => uidOf("CreateGroup", { parent, group: { name } });

it('adopt: "match" gives each record that exists to its resource, and creates the others', async () => {
  const platform = await policyGroup(uid, "platform");
  const registry = await policyGroup(platform, "registry");
  await policyGroup(uid, "registry");
  const claimMatch = { issuer, subject: "other" };
  const identity = await call("CreateIdentity", { parent: platform, identity: { name: "release", claimMatch } });
  const role = { name: "publisher", capabilities: ["CAP_REPO_LIST"] };
  // In another group, so it is another role.
  await call("CreateRole", { parent: uid, role });

  const logged: string[] = [];
  const info = vi.spyOn(pulumi.log, "info").mockImplementation(async (text) => void logged.push(text));
  await startEngine();
  await create(10, { policy: { ...document, organization: { uid } }, adopt: "match" });
  await vi.waitFor(() => expect(logged).toHaveLength(2));
  info.mockRestore();
  const matches = Object.entries(registered()).flatMap(([name, inputs]) =>
    "__match" in inputs ? [[name, inputs.__match]] : [],
  );
  expect(matches).toEqual([
    ["Group acme/platform", platform],
    ["Group acme/platform/registry", registry],
    ["Identity acme:identity/release", identity.uid],
  ]);
  expect(logged.sort()).toEqual([
    `Group acme/platform changes on group ${platform}:\n  - description: "" becomes "Builds"`,
    expect.stringMatching(
      /^Identity acme:identity\/release changes on identity .*\n {2}- claimMatch\.subject: "other" becomes/,
    ),
  ]);
});

const matchOf = (document: PolicyDocument) => {
  const { policy } = parsePolicy(document);
  const client = Promise.resolve(service.session);
  return policyMatch(
    "acme",
    policy as NonNullable<typeof policy>,
    client,
    providersListedBy(() => client),
  );
};

it('adopt: "match" needs one list of each kind, fails where several records have one name, and lists them', async () => {
  const twins = [await policyGroup(uid, "product"), await policyGroup(uid, "product")].sort();
  service.requests.length = 0;
  const match = matchOf({ ...document, organization: { uid } });
  await expect(match.group("product")).rejects.toThrow(
    [
      "AccessPolicy acme: adopt: it is not clear which records to adopt; rename or delete the others:",
      `groups product: 2 groups have this name in its group\n    - ${twins.join("\n    - ")}`,
    ].join("\n  - "),
  );
  const paths = service.requests.map(({ url }) => url.pathname);
  expect(paths.sort()).toEqual(["groups", "identities", "roles"].map((kind) => `/iam/v2beta1/${kind}`));
});

it("adopt: a file of uids tells records of one name apart, in one list of each kind", async () => {
  const twins = [await policyGroup(uid, "twin"), await policyGroup(uid, "twin")];
  const gone = `${uid}/${"f".repeat(16)}`;
  const { policy } = parsePolicy({ ...document, organization: { uid } });
  const groups = new Map([
    ["product", twins[1] as string],
    ["platform", gone],
  ]);
  service.requests.length = 0;
  const match = policyMatchByUid(
    policy as NonNullable<typeof policy>,
    { groups, identities: new Map(), roles: new Map() },
    Promise.resolve(service.session),
  );
  expect(await match.group("product")).toMatchObject({ uid: twins[1], name: "twin" });
  // The engine's side says that it does not exist, if it is not in the stack already.
  expect(await match.group("platform")).toEqual({ uid: gone });
  expect(await match.group("platform/registry")).toBeUndefined();
  expect(await match.identity("release")).toBeUndefined();
  const paths = service.requests.map(({ url }) => url.pathname);
  expect(new Set(paths)).toEqual(new Set(["/iam/v2beta1/groups"]));
  expect(paths.length).toBe(2);
});

it('adopt: "match" finds an organization by its name', async () => {
  const { name } = (await call("GetGroup", { uid })) as { uid: string; name: string };
  expect(await matchOf({ organization: name }).group("/")).toMatchObject({ uid, name });
  expect(await matchOf({ organization: "nowhere" }).group("/")).toBeUndefined();
});

it('adopt: "match" finds the mappings of an identity provider by group and role, custom and built-in', async () => {
  const capabilities = ["CAP_IAM_GROUPS_LIST"];
  const auditor = (await call("CreateRole", { parent: uid, role: { name: "auditor", capabilities } })).uid;
  const viewer = await service.role("viewer");
  const own = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true };
  const identityProvider = { name: "acme-sso", defaultRole: viewer, oidc: own };
  const providerIn = async (parent: string) => (await call("CreateIdentityProvider", { parent, identityProvider })).uid;
  const sso = await providerIn(uid);
  // In a group below, so it is not the policy's.
  const below = await providerIn(await policyGroup(uid, "below"));
  const map = async (parent: string, roleUid: string) => {
    const externalGroupRoleMapping = { externalGroupId: "SRE", roleUid, scope: uid };
    return (await call("CreateExternalGroupRoleMapping", { parent, externalGroupRoleMapping })).uid;
  };
  const made = { auditor: await map(sso, auditor), viewer: await map(sso, viewer), below: await map(below, viewer) };
  const match = matchOf({
    organization: { uid },
    roles: { auditor: { can: ["groups.list"] } },
    people: { "acme-sso": { externalGroups: { SRE: ["auditor", "viewer", "editor"] } } },
  });
  const found = async (role: string) =>
    (await match.mapping({ provider: "acme-sso", externalGroupId: "SRE", role }))?.uid;
  const all = await Promise.all(["auditor", "viewer", "editor"].map(found));
  expect(all).toEqual([made.auditor, made.viewer, undefined]);
});
