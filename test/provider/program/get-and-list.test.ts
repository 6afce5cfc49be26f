// Look-ups and lists as a program uses them, against the reference server.
import * as pulumi from "@pulumi/pulumi";
import { afterAll, describe, expect, it } from "vitest";
import * as irm from "../../../provider/index.ts";
import type { KindName } from "../../../provider/kind/index.ts";
import { adoption } from "../../../provider/program/adoption.ts";
import { awaitValue } from "../../../provider/program/output.ts";
import { startService } from "../../harness/provider.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { digest } from "../kind/case.ts";

const service = await startService();
afterAll(async () => {
  for (const name of Object.keys(service.env)) delete process.env[name];
  await service.close();
});
const { call } = service;
const uidOf = async (...request: Parameters<typeof call>): Promise<string> => (await call(...request)).uid;

const collect = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
};
const uidsIn = async (list: AsyncIterable<{ uid: string }>) => (await collect(list)).map(({ uid }) => uid);
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
const invite: string = await uidOf("CreateGroupInvite", {
  parent: group,
  groupInvite: { roleUid: viewer, ttl: "60s" },
});
const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "s" };
const identityProvider = { name: "login", defaultRole: viewer, oidc };
const provider: string = await uidOf("CreateIdentityProvider", { parent: group, identityProvider });
await uidOf("CreateAccountAssociation", { parent: group, accountAssociation: { name: "clouds" } });

describe("lists", () => {
  it("exist for every kind, with the filters of the API, and read all pages", async () => {
    const uidp = { descendantsOf: org };
    expect((await collect(irm.listIdentities({ uidp }))).map(({ name }) => name)).toEqual(["owner"]);
    expect(await uidsIn(irm.listRoles({ uidp: { inRoot: true }, name: "viewer" }))).toEqual([viewer]);
    expect((await collect(irm.listRoleBindings({ uidp }))).map(({ role }) => role.name)).toEqual(["owner"]);
    expect(await uidsIn(irm.listRepos({ uidp, name: "nginx" }))).toEqual([repo]);
    expect(await uidsIn(irm.listIdentityProviders({ uidp }))).toEqual([provider]);
    expect(await uidsIn(irm.listGroupInvites({ uidp }))).toEqual([invite]);
    expect(await uidsIn(irm.listAccountAssociations({ uidp: { ids: [group] } }))).toEqual([group]);
    expect(await uidsIn(irm.listTags({ uidp }))).toEqual([]);
    expect(await uidsIn(irm.listTags({ uidp, includeEpochs: true }))).toEqual([tag]);
    const groups = await collect(irm.listGroups({ uidp: { childrenOf: org }, pageSize: 2, orderBy: "name desc" }));
    expect(groups.map(({ name }) => name)).toEqual(["g6", "g5", "g4", "g3", "g2", "g1", "g0", "g"]);
  });

  it("of role bindings take the name of a built-in role; errors are the operation and the API's message", async () => {
    expect((await collect(irm.listRoleBindings({ role: "owner" }))).map(({ role }) => role.name)).toEqual(["owner"]);
    await expect(collect(irm.listRoleBindings({ role: "ownr" }))).rejects.toThrow(
      'no built-in role is named "ownr"; did you mean owner?',
    );
    await expect(collect(irm.listGroups({ orderBy: "colour" }))).rejects.toThrow(
      /^ListGroups: INVALID_ARGUMENT: Invalid argument: orderBy/,
    );
  });
});

describe("look-ups", () => {
  it("find each kind by its uid, and by its name where it has one, directly in a group", async () => {
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

  it("search only root-level records when no parent is given: a built-in role, never one of the same name in a group", async () => {
    const { name } = await call("GetGroup", { uid: org });
    expect((await irm.getGroup({ name: name as string })).uid).toBe(org);
    await expect(irm.getGroup({ name: "g3" })).rejects.toThrow(
      'no group named "g3" at the root; exactly one is needed',
    );
    const role = { name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] };
    const uid = await uidOf("CreateRole", { parent: org, role });
    expect((await irm.getRole({ name: "viewer" })).uid).toBe(viewer);
    expect((await irm.getRole({ name: "viewer", parent: org })).uid).toBe(uid);
  });

  it.each<[string, () => Promise<unknown>, string | RegExp]>([
    [
      "the nearest name at the root",
      () => irm.getRole({ name: "editr" }),
      'no role named "editr" at the root; exactly one is needed; did you mean "editor"?',
    ],
    [
      "the nearest name in a group",
      () => irm.getGroup({ parent: org, name: "g66" }),
      /^no group named "g66" in .*; did you mean "g6"/,
    ],
    [
      "no name where none is like it",
      () => irm.getGroup({ parent: org, name: "nothing like it" }),
      new RegExp(`^no group named "nothing like it" in ${org}; exactly one is needed$`),
    ],
    [
      "a uid of no record",
      () => irm.getTag({ uid: `${repo}/ffffffffffffffff` }),
      /^no tag has the uid .*ffffffffffffffff/,
    ],
    ["what is no uid", () => irm.getGroupInvite({ uid: "x" }), "uid of the group invite to look for must be a uid"],
    ["a missing name", () => irm.getRole({} as never), "name of the role to look for is required"],
    ["a missing parent", () => irm.getRepo({ name: "nginx" } as never), "parent of the repo to look for is required"],
    [
      "a parent that is undefined by mistake, and do not search the root",
      () => irm.getRole({ name: "viewer", parent: undefined }),
      "parent of the role to look for was passed as undefined",
    ],
  ])("report %s", async (_, lookUp, text) => {
    await expect(lookUp()).rejects.toThrow(text);
  });

  it("list the matches when there are several", async () => {
    const twin = { parent: org, group: { name: "twin" } };
    const twins = [await uidOf("CreateGroup", twin), await uidOf("CreateGroup", twin)];
    const error = await irm.getGroup({ parent: org, name: "twin" }).catch((thrown: Error) => thrown);
    const [head, ...list] = (error as Error).message.split("\n");
    expect(head).toBe(`2 groups named "twin" in ${org}; exactly one is needed`);
    expect(list.sort()).toEqual(twins.map((uid) => `  - ${uid} "twin"`).sort());
  });

  it("accept inputs that are known later", async () => {
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

  it("of adopt: match find the one record by its distinguishing fields", async () => {
    const found = (kind: KindName, inputs: pulumi.Inputs) =>
      awaitValue(adoption(true, kind, "x", { adopt: "match", ...inputs }, {}).adopt as pulumi.Output<string>);
    expect(await found("repo", { parent: group, name: "nginx" })).toBe(repo);
    expect(await found("tag", { parent: repo, name: "1.2.3-r0" })).toBe(tag);
    expect(await found("groupInvite", { parent: group, role: "viewer", ttl: "1s" })).toBe(invite);
    expect(await found("identityProvider", { parent: group, name: "login" })).toBe(provider);
    expect(await found("accountAssociation", { parent: group, name: "another" })).toBe(group);
  });
});
