// A preview, and its detailed diff: which properties differ, which of them replace the record, and which record goes first.
import { describe, expect, it } from "vitest";
import { type Compared, detailedDiff } from "../../plugin/detailed-diff.ts";
import { Secret } from "../../plugin/value.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import { urnOf } from "../harness/plugin.ts";
import { type Stored, setUp } from "./fixture.ts";

const { service, org, plugin, nextProcess, created, createIdentity, compared } = await setUp();

const planned = async (type: string, name: string, args: Json, process = plugin): Promise<Json> => {
  const { inputs, failures } = await process.check(urnOf(type, name), args);
  expect(failures).toEqual([]);
  return (await process.create(urnOf(type, name), inputs, { preview: true })).outs;
};

it("a preview does not know what the service spells otherwise, leaves out or never returns", async () => {
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

it("a preview shows the record of an interrupted run that the update adopts", async () => {
  const { urn, id, inputs } = await created("Group", { parent: org, name: "left behind" });
  const next = await nextProcess();
  const { outs } = await next.create(urn, inputs, { preview: true });
  // The record itself, and the line that a review reads.
  expect(outs).toMatchObject({ uid: id });
  expect(outs).not.toHaveProperty("__takenOver");
  expect(next.messages).toEqual([
    expect.stringContaining(`adopts group ${id} "left behind", created by an earlier run at `),
  ]);
  expect(await next.create(urn, inputs)).toMatchObject({ id });
});

it("a preview knows the outputs that the program gives", async () => {
  const urn = urnOf("RoleBinding", "p");
  const { inputs } = await plugin.check(urn, { parent: UNKNOWN, identity: UNKNOWN, role: "viewer" });
  const { id, outs } = await plugin.create(urn, inputs, { preview: true });
  expect(id).toBe("");
  expect(outs).toMatchObject({ parent: UNKNOWN, identity: UNKNOWN, role: { uid: UNKNOWN, name: "viewer" } });
});

it("a preview keeps the outputs that an update does not change, and sends nothing", async () => {
  const args = { parent: org, name: "kept", description: "old" };
  const one = await created("Group", args);
  const { inputs } = await plugin.check(one.urn, { ...args, description: "new" }, one.inputs);
  const before = service.clock.now();
  const { outs } = await plugin.update(one.urn, one.id, one.outs, inputs, { preview: true });
  expect(outs).toEqual({ ...one.outs, description: "new", updateTime: UNKNOWN });
  expect(service.clock.now()).toBe(before);
  expect((await plugin.read(one.urn, one.id, one.outs, one.inputs)).outs).toMatchObject({ description: "old" });
});

describe("the uid of a new resource in a preview", async () => {
  const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
  const next = await nextProcess();
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

const update = (isInput = true) => ({ kind: "UPDATE", isInput });

it("the detailed diff names items of lists and nested members", async () => {
  const role = await created("Role", { parent: org, name: "r", capabilities: ["groups.list", "repo.list"] });
  expect(
    (await compared(role, { parent: org, name: "r", capabilities: ["groups.list", "roles.list"] })).detailed,
  ).toEqual({ "capabilities[1]": update() });
  const more = ["groups.list", "repo.list", "roles.list"];
  expect((await compared(role, { parent: org, name: "r", capabilities: more })).detailed).toEqual({
    "capabilities[1]": { kind: "ADD", isInput: true },
  });
  expect((await compared(role, { parent: org, name: "r", capabilities: ["repo.list"] })).detailed).toEqual({
    "capabilities[0]": { kind: "DELETE", isInput: true },
  });
  const match = { issuer: "https://ci.example.com", subject: "a", claims: { "job-name": "x" } };
  const identity = await created("Identity", { parent: org, name: "i", claimMatch: match });
  const changed = { issuer: "https://ci.example.com", subject: "b", claims: { "job-name": "y", ref: "main" } };
  expect((await compared(identity, { parent: org, name: "i", claimMatch: changed })).detailed).toEqual({
    "claimMatch.subject": update(),
    'claimMatch.claims["job-name"]': update(),
    "claimMatch.claims.ref": { kind: "ADD", isInput: true },
  });
});

it("the detailed diff lets the old record of a unique name go first, unless name or place changes", async () => {
  const group = await created("Group", { parent: org, name: "registry" });
  const repo = await created("Repo", { parent: group.id, name: "app", description: "a" });
  const digest = `sha256:${"1".repeat(64)}`;
  const tag = await created("Tag", { parent: repo.id, name: "v1", digest });
  const goesFirst = async (one: Stored, args: Json) => (await compared(one, args)).deleteBeforeReplace;
  expect(await goesFirst(repo, { parent: group.id, name: "app", description: "b" })).toBe(true);
  expect(await goesFirst(repo, { parent: group.id, name: "other", description: "b" })).toBe(false);
  expect(await goesFirst(repo, { parent: org, name: "app", allowReplace: true })).toBe(false);
  expect(await goesFirst(tag, { parent: repo.id, name: "v1", digest: `sha256:${"2".repeat(64)}` })).toBe(true);
  expect(await goesFirst(tag, { parent: repo.id, name: "v2", digest })).toBe(false);
  expect(await goesFirst(group, { parent: org, name: "registry", description: "d" })).toBe(false);
});

it("the detailed diff marks what replaces the record", async () => {
  const [one, other] = [
    await created("Group", { parent: org, name: "a" }),
    await created("Group", { parent: org, name: "b" }),
  ];
  const args = { parent: other.id, name: "a", allowReplace: true };
  const below = await created("Group", { parent: one.id, name: "a", allowReplace: true });
  expect(await compared(below, args)).toEqual({
    changes: true,
    replaces: ["parent"],
    deleteBeforeReplace: false,
    detailed: { parent: { kind: "UPDATE_REPLACE", isInput: true } },
  });
  expect(await compared(below, { ...args, parent: UNKNOWN })).toMatchObject({
    detailed: { parent: { kind: "UPDATE_REPLACE", isInput: true } },
  });
  const staticKeys = { issuer: "https://x.example.com", subject: "keyed", issuerKeys: '{"keys":[]}' };
  const keyed = { parent: org, name: "keyed", allowReplace: true };
  const ci = await created("Identity", { ...keyed, staticKeys });
  expect(await compared(ci, { ...keyed, staticKeys: { ...staticKeys, subject: "other" } })).toMatchObject({
    replaces: ["staticKeys"],
    detailed: { "staticKeys.subject": { kind: "UPDATE_REPLACE", isInput: true } },
  });
});

it("the detailed diff shows an unknown parent as an update where none may be replaced, and drift", async () => {
  const one = await created("Group", { parent: org, name: "c" });
  const { inputs } = await plugin.check(one.urn, { parent: UNKNOWN, name: "c" }, one.inputs);
  const diff = await plugin.diff(one.urn, one.id, one.outs, inputs, one.inputs);
  expect(diff).toMatchObject({ changes: true, replaces: [], detailed: { parent: update() } });
  expect(plugin.messages.at(-1)).toContain("parent is not known yet, and the update refuses a different value");
  const args = { parent: org, name: "d", description: "ours" };
  const drifted = await created("Group", args);
  const outs = { ...drifted.outs, description: "by hand" };
  expect((await plugin.diff(drifted.urn, drifted.id, outs, drifted.inputs, drifted.inputs)).detailed).toEqual({
    description: update(false),
  });
});

it("the detailed diff names the pairs of a set by their places", async () => {
  const group = await created("Group", { parent: org, name: "set" });
  const who = await Promise.all(["a", "b", "c"].map((name) => createIdentity(name)));
  const pairs = who.map(({ id }) => ({ identity: id, role: "viewer" }));
  const set = await created("RoleBindingSet", { parent: group.id, bindings: pairs.slice(0, 2) });
  expect(set.outs).toMatchObject({ bindings: [{ role: { name: "viewer" } }, {}], unmanaged: [] });
  expect((await compared(set, { parent: group.id, bindings: [pairs[1], pairs[0]] })).changes).toBe(false);
  expect((await compared(set, { parent: group.id, bindings: pairs })).detailed).toEqual({
    "bindings[2]": { kind: "ADD", isInput: true },
  });
  expect((await compared(set, { parent: group.id, bindings: [pairs[0]] })).detailed).toEqual({
    "bindings[1]": { kind: "DELETE", isInput: true },
  });
  const moved = await compared(set, { parent: org, bindings: pairs.slice(0, 2) });
  expect(moved).toMatchObject({ replaces: ["parent"], detailed: { parent: { kind: "UPDATE_REPLACE" } } });
});

const UID = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
const kind = kindRecords.group;
const news = { parent: UID.split("/")[0], name: "team", description: "one" };
const outputs = (description: string) => ({ uid: UID, name: "team", description });
const openDiff = (own: Pick<Compared, "olds" | "result"> & Partial<Compared>) =>
  [...detailedDiff(kind, { id: UID, news, oldInputs: news, ...own })].map(([path, { change, isReplacement }]) => [
    path,
    change,
    isReplacement,
  ]);

it.each([
  ["compares with what is live, and not with the state", "two", "one"],
  ["names what the state lacks where the program already has what is live", "one", "old"],
])("the detailed diff of an open stack %s", (_, live, stored) => {
  const result = { changes: true, replaces: [] };
  expect(openDiff({ olds: outputs(live), stored: outputs(stored), result })).toEqual([
    ["description", "update", false],
  ]);
});

it("the detailed diff of an open stack names the uid of a record that is deleted", () => {
  const result = { changes: true, replaces: ["uid"], isGone: true } as const;
  expect(openDiff({ olds: outputs("one"), result: { ...result, replaces: [...result.replaces] } })).toEqual([
    ["uid", "update", true],
  ]);
});
