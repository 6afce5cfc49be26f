// Look-ups and lists as a program uses them, against the reference server.
import * as pulumi from "@pulumi/pulumi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as irm from "../../../provider/index.ts";
import type { KindName } from "../../../provider/kind/index.ts";
import { adoption } from "../../../provider/program/adoption.ts";
import { startService } from "../../harness/provider.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { digest } from "../kind/case.ts";

const call = (operation: string, request: object): Promise<{ uid: string }> =>
  service.session.call(operation as never, request as never) as never;
const uidOf = async (operation: string, request: object): Promise<string> => (await call(operation, request)).uid;
afterAll(async () => {
  for (const name of Object.keys(service.env)) delete process.env[name];
  await service.close();
});

const value = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => output.apply(resolve));

const collect = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
};

const service = await startService();
const org: string = service.organization as string;
Object.assign(process.env, service.env);
await mockEngine(() => ({ id: "", state: {} }));
for (let i = 0; i < 7; i++) await call("CreateGroup", { parent: org, group: { name: `g${i}` } });

describe("lists", () => {
  it("read all pages", async () => {
    const groups = await collect(irm.listGroups({ uidp: { childrenOf: org }, pageSize: 2, orderBy: "name desc" }));
    expect(groups.map(({ name }) => name)).toEqual(["g6", "g5", "g4", "g3", "g2", "g1", "g0"]);
  });

  it("exist for every kind", async () => {
    const uidp = { descendantsOf: org };
    expect((await collect(irm.listIdentities({ uidp }))).map(({ name }) => name)).toEqual(["owner"]);
    expect(await collect(irm.listRoles({ uidp }))).toEqual([]);
    expect((await collect(irm.listRoles({ uidp: { inRoot: true }, name: "viewer" }))).length).toBe(1);
    expect((await collect(irm.listRoleBindings({ uidp }))).map(({ role }) => role.name)).toEqual(["owner"]);
    expect(await collect(irm.listRepos({ uidp }))).toEqual([]);
    expect((await collect(irm.listRoleBindings({ role: "owner" }))).map(({ role }) => role.name)).toEqual(["owner"]);
    await expect(collect(irm.listRoleBindings({ role: "ownr" }))).rejects.toThrow(
      'no built-in role is named "ownr"; did you mean owner?',
    );
  });

  it("report the operation and the API's message", async () => {
    await expect(collect(irm.listGroups({ orderBy: "colour" }))).rejects.toThrow(
      /^ListGroups: INVALID_ARGUMENT: Invalid argument: orderBy/,
    );
  });
});

describe("look-ups", () => {
  it("find the one record of that name directly in a group", async () => {
    expect(await irm.getGroup({ parent: org, name: "g3" })).toMatchObject({ name: "g3", verified: false });
    expect((await irm.getIdentity({ parent: org, name: "owner" })).uid).toBe(service.identity);
  });

  it("search only root-level records when no parent is given", async () => {
    const { name } = (await call("GetGroup", { uid: org })) as unknown as { name: string };
    expect((await irm.getGroup({ name })).uid).toBe(org);
    await expect(irm.getGroup({ name: "g3" })).rejects.toThrow(
      'no group named "g3" at the root; exactly one is needed',
    );
  });

  it("find a built-in role, never one of the same name in a group", async () => {
    const role = { name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] };
    const { uid } = await call("CreateRole", { parent: org, role });
    expect((await irm.getRole({ name: "viewer" })).uid).toHaveLength(40);
    expect((await irm.getRole({ name: "viewer", parent: org })).uid).toBe(uid);
  });

  it("suggest the nearest names of the list for a missing one", async () => {
    await expect(irm.getRole({ name: "editr" })).rejects.toThrow(
      'no role named "editr" at the root; exactly one is needed; did you mean "editor"?',
    );
    await expect(irm.getGroup({ parent: org, name: "g66" })).rejects.toThrow(
      /^no group named "g66" in .*; did you mean "g6"/,
    );
    await expect(irm.getGroup({ parent: org, name: "nothing like it" })).rejects.toThrow(
      `no group named "nothing like it" in ${org}; exactly one is needed`,
    );
  });

  it("list the matches when there are several", async () => {
    const twins = [
      await call("CreateGroup", { parent: org, group: { name: "twin" } }),
      await call("CreateGroup", { parent: org, group: { name: "twin" } }),
    ];
    const error = await irm.getGroup({ parent: org, name: "twin" }).catch((thrown: Error) => thrown);
    const [head, ...list] = (error as Error).message.split("\n");
    expect(head).toBe(`2 groups named "twin" in ${org}; exactly one is needed`);
    expect(list.sort()).toEqual(twins.map(({ uid }) => `  - ${uid} "twin"`).sort());
  });

  it("refuse a parent that is undefined by mistake, and do not search the root", async () => {
    await expect(irm.getRole({ name: "viewer", parent: undefined })).rejects.toThrow(
      "parent of the role to look for was passed as undefined",
    );
    await expect(irm.getRole({} as never)).rejects.toThrow("name of the role to look for is required");
  });

  it("accept inputs that are known later", async () => {
    const found = irm.getGroupOutput({ parent: pulumi.output(org), name: Promise.resolve("g2") });
    expect(await value(found)).toMatchObject({ name: "g2" });
    expect((await value(irm.getRoleOutput({ name: "viewer" }))).uid).toHaveLength(40);
    const identity = irm.getIdentityOutput({ parent: org, name: "owner" });
    expect(await value(identity)).toMatchObject({ uid: service.identity });
  });
});

describe("look-ups and lists of the kinds that are never at the root", () => {
  let [group, repo, tag, invite, provider] = ["", "", "", "", ""];
  beforeAll(async () => {
    const { uid: role } = await irm.getRole({ name: "viewer" });
    group = await uidOf("CreateGroup", { parent: org, group: { name: "g" } });
    repo = await uidOf("CreateRepo", { parent: group, repo: { name: "nginx" } });
    tag = await uidOf("CreateTag", { parent: repo, tag: { name: "1.2.3-r0", digest: digest("a") } });
    invite = await uidOf("CreateGroupInvite", {
      parent: group,
      groupInvite: { roleUid: role, ttl: "60s" },
    });
    const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "s" };
    const identityProvider = { name: "login", defaultRole: role, oidc };
    provider = await uidOf("CreateIdentityProvider", { parent: group, identityProvider });
    await uidOf("CreateAccountAssociation", { parent: group, accountAssociation: { name: "clouds" } });
  });

  it("find each kind by its uid, and by its name where it has one", async () => {
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

  it("accept resources, and inputs that are known later", async () => {
    const later = <T>(known: T) => pulumi.output(known);
    expect(await value(irm.getRepoOutput({ name: later("nginx"), parent: later(group) }))).toMatchObject({ uid: repo });
    expect(await value(irm.getTagOutput({ name: "1.2.3-r0", repo: later(repo) }))).toMatchObject({ uid: tag });
    expect(await value(irm.getAccountAssociationOutput({ group: later(group) }))).toMatchObject({ uid: group });
    expect(await value(irm.getGroupInviteOutput({ uid: later(invite) }))).toMatchObject({ uid: invite });
    const found = irm.getIdentityProviderOutput({ uid: later(provider) });
    expect(await value(found)).toMatchObject({ uid: provider });
  });

  it("report missing inputs, and suggest the nearest name", async () => {
    await expect(irm.getRepo({ name: "nginxx", parent: group })).rejects.toThrow(
      `no repo named "nginxx" in ${group}; exactly one is needed; did you mean "nginx"?`,
    );
    await expect(irm.getTag({ uid: `${repo}/ffffffffffffffff` })).rejects.toThrow(
      /^no tag has the uid .*ffffffffffffffff/,
    );
    await expect(irm.getRepo({ name: "nginx" } as irm.GetRepoArgs)).rejects.toThrow(
      "parent of the repo to look for is required",
    );
    await expect(irm.getGroupInvite({ uid: "x" })).rejects.toThrow("uid of the group invite to look for must be a uid");
  });

  it("of adopt: match find the one record by its distinguishing fields", async () => {
    const found = (kind: KindName, inputs: pulumi.Inputs): Promise<string> =>
      value(adoption(true, kind, "x", { adopt: "match", ...inputs }, {}).adopt as pulumi.Output<string>);
    expect(await found("repo", { parent: group, name: "nginx" })).toBe(repo);
    expect(await found("tag", { parent: repo, name: "1.2.3-r0" })).toBe(tag);
    expect(await found("groupInvite", { parent: group, role: "viewer", ttl: "1s" })).toBe(invite);
    expect(await found("identityProvider", { parent: group, name: "login" })).toBe(provider);
    expect(await found("accountAssociation", { parent: group, name: "another" })).toBe(group);
  });

  it("have the records of a group, with the filters of the API", async () => {
    const uids = async (list: AsyncIterable<{ uid: string }>) => (await collect(list)).map(({ uid }) => uid);
    const inGroup = { uidp: { childrenOf: group } };
    expect(await uids(irm.listRepos({ ...inGroup, name: "nginx" }))).toEqual([repo]);
    expect(await uids(irm.listIdentityProviders(inGroup))).toEqual([provider]);
    expect(await uids(irm.listGroupInvites(inGroup))).toEqual([invite]);
    expect(await uids(irm.listAccountAssociations({ uidp: { ids: [group] } }))).toEqual([group]);
    expect(await uids(irm.listTags({ uidp: { childrenOf: repo } }))).toEqual([]);
    expect(await uids(irm.listTags({ uidp: { childrenOf: repo }, includeEpochs: true }))).toEqual([tag]);
  });
});
