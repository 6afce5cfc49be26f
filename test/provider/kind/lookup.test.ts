// Look-ups and lists of the kinds that are never at the root, as a program uses them, against the reference server.
import * as pulumi from "@pulumi/pulumi";
import { afterAll, describe, expect, it } from "vitest";
import * as irm from "../../../provider/index.ts";
import type { KindName } from "../../../provider/kind/index.ts";
import { adoption } from "../../../provider/program/adoption.ts";
import type { Json, OperationName } from "../../../schema/index.ts";
import { startService } from "../../harness/provider.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { digest } from "./case.ts";

const make = async (operation: OperationName, request: Json): Promise<string> =>
  ((await service.session.call(operation, request as never)) as Json).uid as string;
afterAll(async () => {
  for (const name of Object.keys(service.env)) delete process.env[name];
  await service.close();
});

const value = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => output.apply(resolve));

const service = await startService();
Object.assign(process.env, service.env);
await mockEngine(() => ({ id: "", state: {} }));
const parent = service.organization as string;
const { uid: role } = await irm.getRole({ name: "viewer" });
const group: string = await make("CreateGroup", { parent, group: { name: "g" } });
const repo: string = await make("CreateRepo", { parent: group, repo: { name: "nginx" } });
const tag: string = await make("CreateTag", { parent: repo, tag: { name: "1.2.3-r0", digest: digest("a") } });
const invite: string = await make("CreateGroupInvite", { parent: group, groupInvite: { roleUid: role, ttl: "60s" } });
const oidc = { issuer: "https://login.example.com", clientId: "c", clientSecret: "s" };
const identityProvider = { name: "login", defaultRole: role, oidc };
const provider: string = await make("CreateIdentityProvider", { parent: group, identityProvider });
await make("CreateAccountAssociation", { parent: group, accountAssociation: { name: "clouds" } });

describe("a look-up", () => {
  it("finds each kind by its uid, and by its name where it has one", async () => {
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

  it("accepts resources, and inputs that are known later", async () => {
    const later = <T>(known: T) => pulumi.output(known);
    expect(await value(irm.getRepoOutput({ name: later("nginx"), parent: later(group) }))).toMatchObject({ uid: repo });
    expect(await value(irm.getTagOutput({ name: "1.2.3-r0", repo: later(repo) }))).toMatchObject({ uid: tag });
    expect(await value(irm.getAccountAssociationOutput({ group: later(group) }))).toMatchObject({ uid: group });
    expect(await value(irm.getGroupInviteOutput({ uid: later(invite) }))).toMatchObject({ uid: invite });
    const found = irm.getIdentityProviderOutput({ uid: later(provider) });
    expect(await value(found)).toMatchObject({ uid: provider });
  });

  it("reports missing inputs, and suggests the nearest name", async () => {
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
});

describe("adopt: match", () => {
  it("finds the one record of each kind by its distinguishing fields", async () => {
    const found = (kind: KindName, inputs: pulumi.Inputs): Promise<string> =>
      value(adoption(kind, "x", { adopt: "match", ...inputs }).adopt as pulumi.Output<string>);
    expect(await found("repo", { parent: group, name: "nginx" })).toBe(repo);
    expect(await found("tag", { parent: repo, name: "1.2.3-r0" })).toBe(tag);
    expect(await found("groupInvite", { parent: group, role: "viewer", ttl: "1s" })).toBe(invite);
    expect(await found("identityProvider", { parent: group, name: "login" })).toBe(provider);
    expect(await found("accountAssociation", { parent: group, name: "another" })).toBe(group);
  });
});

describe("a list", () => {
  it("of each kind returns the records of a group, with the filters of the API", async () => {
    const uids = async (list: AsyncIterable<{ uid: string }>) => {
      const found: string[] = [];
      for await (const { uid } of list) found.push(uid);
      return found;
    };
    const inGroup = { uidp: { childrenOf: group } };
    expect(await uids(irm.listRepos({ ...inGroup, name: "nginx" }))).toEqual([repo]);
    expect(await uids(irm.listIdentityProviders(inGroup))).toEqual([provider]);
    expect(await uids(irm.listGroupInvites(inGroup))).toEqual([invite]);
    expect(await uids(irm.listAccountAssociations({ uidp: { ids: [group] } }))).toEqual([group]);
    expect(await uids(irm.listTags({ uidp: { childrenOf: repo } }))).toEqual([]);
    expect(await uids(irm.listTags({ uidp: { childrenOf: repo }, includeEpochs: true }))).toEqual([tag]);
  });
});
