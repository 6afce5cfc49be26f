import { beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../plugin/value.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import { type PluginClient, urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { service, org, plugin, nextProcess, created } = await setUp();

const planned = async (type: string, name: string, args: Json, process = plugin): Promise<Json> => {
  const { inputs, failures } = await process.check(urnOf(type, name), args);
  expect(failures).toEqual([]);
  return (await process.create(urnOf(type, name), inputs, { preview: true })).outs;
};

describe("a preview", () => {
  it("does not know what the service spells otherwise, leaves out or never returns", async () => {
    const issuer = "https://login.example.com";
    const oidc = { issuer, clientId: "c", clientSecret: "s", additionalScopes: [] };
    const own = { parent: org, name: "p", description: "", defaultRole: "viewer", oidc };
    expect(await planned("IdentityProvider", "spelt", own)).toMatchObject({
      name: "p",
      description: UNKNOWN,
      defaultRole: UNKNOWN,
      oidc: { issuer, clientId: "c", clientSecret: new Secret(UNKNOWN), additionalScopes: UNKNOWN },
    });
    const issuerKeys = JSON.stringify({
      keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
    });
    const staticKeys = { issuer, subject: "k", issuerKeys, expirationTime: "2027-05-01T00:00:00+02:00" };
    expect(await planned("Identity", "keys", { parent: org, name: "i", staticKeys })).toMatchObject({
      staticKeys: { issuer, subject: "k", issuerKeys, expirationTime: "2027-04-30T22:00:00.000Z" },
    });
    const mapping = { externalGroupId: "SRE", scope: org, parent: `${org}/${"1".repeat(16)}` };
    expect(await planned("ExternalGroupRoleMapping", "spelt", { ...mapping, role: "viewer" })).toMatchObject({
      roleUid: UNKNOWN,
    });
    const reader = `${org}/${"2".repeat(16)}`;
    const { roleUid, role } = await planned("ExternalGroupRoleMapping", "plain", { ...mapping, role: reader });
    expect([roleUid, role]).toEqual([reader, undefined]);
    const claimMatch = { issuer, subject: "s", claims: {} };
    expect(await planned("Identity", "claims", { parent: org, name: "i", claimMatch })).toMatchObject({
      claimMatch: { ...claimMatch, claims: UNKNOWN },
    });
  });

  it("shows the record of an interrupted run that the update takes over", async () => {
    const { urn, id, inputs } = await created("Group", { parent: org, name: "left behind" });
    const next = await nextProcess();
    const { outs } = await next.create(urn, inputs, { preview: true });
    // The record itself, and the line that a review reads.
    expect(outs).toMatchObject({ uid: id });
    expect(outs).not.toHaveProperty("__takenOver");
    expect(next.messages).toEqual([
      expect.stringContaining(`takes over group ${id} "left behind", created by an earlier run at `),
    ]);
    const update = await next.create(urn, inputs);
    expect(update).toMatchObject({ id });
  });

  it("knows the outputs that the program gives", async () => {
    const urn = urnOf("RoleBinding", "p");
    const { inputs } = await plugin.check(urn, { parent: UNKNOWN, identity: UNKNOWN, role: "viewer" });
    const { id, outs } = await plugin.create(urn, inputs, { preview: true });
    expect(id).toBe("");
    expect(outs).toMatchObject({
      parent: UNKNOWN,
      identity: UNKNOWN,
      role: { uid: UNKNOWN, name: "viewer" },
    });
  });

  it("keeps the outputs that an update does not change, and sends nothing", async () => {
    const args = { parent: org, name: "kept", description: "old" };
    const one = await created("Group", args);
    const { inputs } = await plugin.check(one.urn, { ...args, description: "new" }, one.inputs);
    const before = service.clock.now();
    const { outs } = await plugin.update(one.urn, one.id, one.outs, inputs, { preview: true });
    expect(outs).toEqual({ ...one.outs, description: "new", updateTime: UNKNOWN });
    expect(service.clock.now()).toBe(before);
    expect((await plugin.read(one.urn, one.id, one.outs, one.inputs)).outs).toMatchObject({ description: "old" });
  });
});

describe("the uid of a new resource in a preview", () => {
  const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
  let next: PluginClient;
  beforeAll(async () => {
    next = await nextProcess();
  });
  const uidOf = async (type: string, name: string, args: Json): Promise<unknown> =>
    (await planned(type, name, args, next)).uid;

  it("is unknown, as with every provider, and that of its group for what has no uid of its own", async () => {
    expect(await uidOf("Group", "new", { parent: org, name: "new" })).toBe(UNKNOWN);
    expect(await uidOf("Group", "root", { root: true, name: "root" })).toBe(UNKNOWN);
    expect(await uidOf("Identity", "below", { parent: UNKNOWN, name: "below", claimMatch })).toBe(UNKNOWN);
    const amazon = { account: "123456789012" };
    for (const parent of [org, UNKNOWN]) {
      expect(await uidOf("AccountAssociation", "accounts", { parent, name: "accounts", amazon })).toBe(parent);
      expect(await uidOf("RoleBindingSet", "set", { parent, bindings: [] })).toBe(parent);
    }
  });

  it("is that of the adopted record, and unknown where it is not known which", async () => {
    const args = { parent: org, name: "by hand" };
    const { id } = await created("Group", args);
    expect(await uidOf("Group", "adopts", { ...args, adopt: id })).toBe(id);
    expect(await uidOf("Group", "unclear", { ...args, adopt: UNKNOWN })).toBe(UNKNOWN);
  });

  it("leaves the names of a sentence to the program: one unknown uid is not another one", async () => {
    await uidOf("Group", "named", { parent: org, name: "named" });
    const pair = { parent: UNKNOWN, identity: UNKNOWN, role: "viewer" };
    const count = next.messages.length;
    await planned("RoleBinding", "unnamed", pair, next);
    await planned("RoleBinding", "named", { ...pair, names: { identity: "ci", group: "named" } }, next);
    expect(next.messages.slice(count)).toEqual([
      'RoleBinding unnamed is new: identity (not known yet), role "viewer", group (not known yet)',
      'RoleBinding named is new: identity "ci", role "viewer", group "named"',
    ]);
  });
});
