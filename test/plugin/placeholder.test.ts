// What a preview shows for the uids of new records, and what reads of them do not do.
import { beforeAll, describe, expect, it } from "vitest";
import { isPlaceholder, placeholderUid, resourceMark, resourceMarkIn } from "../../client/placeholder-uid.ts";
import { systemTransport } from "../../client/transport.ts";
import { UNKNOWN } from "../../provider/record/normal-form.ts";
import type { Json } from "../../schema/index.ts";
import { type PluginClient, urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const fixture = setUp();
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };

describe("the uid of a new record in a preview", () => {
  let plugin: PluginClient;
  let org: string;
  const sent: string[] = [];
  beforeAll(async () => {
    const send = systemTransport();
    org = fixture.org;
    plugin = await fixture.nextProcess((request) => {
      sent.push(decodeURIComponent(String(request.url)));
      return send(request);
    });
  });
  const planned = async (type: string, name: string, args: Json): Promise<Json> => {
    const { inputs, failures } = await plugin.check(urnOf(type, name), args);
    expect(failures).toEqual([]);
    return (await plugin.create(urnOf(type, name), inputs, { preview: true })).outs;
  };
  const uidOf = async (...own: Parameters<typeof planned>): Promise<string> => (await planned(...own)).uid as string;

  it("is a placeholder that no other preview has, and that shows its resource", async () => {
    const uid = await uidOf("Group", "new", { parent: org, name: "new" });
    expect(uid.startsWith(`${org}/`)).toBe(true);
    expect(isPlaceholder(uid)).toBe(true);
    expect(resourceMarkIn(uid)).toBe(resourceMark(urnOf("Group", "new")));
    expect(await uidOf("Group", "new", { parent: org, name: "new" })).not.toBe(uid);
    const below = await uidOf("Identity", "below", { parent: uid, name: "below", claimMatch });
    expect(below.startsWith(`${uid}/`)).toBe(true);
    const root = await uidOf("Group", "root", { root: true, name: "root" });
    expect(resourceMarkIn(root)).toBe(resourceMark(urnOf("Group", "root")));
    expect(isPlaceholder(await uidOf("Group", "unplaced", { parent: UNKNOWN, name: "unplaced" }))).toBe(true);
  });

  it("is that of its group for what has no uid of its own", async () => {
    const parent = placeholderUid(org) as string;
    const amazon = { account: "123456789012" };
    expect(await uidOf("AccountAssociation", "accounts", { parent, name: "accounts", amazon })).toBe(parent);
    expect(await uidOf("RoleBindingSet", "set", { parent, bindings: [] })).toBe(parent);
  });

  it("is that of the adopted record, and unknown where it is not known which", async () => {
    const args = { parent: org, name: "by hand" };
    const { id } = await fixture.created("Group", args);
    expect(await uidOf("Group", "adopts", { ...args, adopt: id })).toBe(id);
    expect(await uidOf("Group", "unclear", { ...args, adopt: UNKNOWN })).toBe(UNKNOWN);
    expect(await uidOf("Group", "new one", { ...args, adopt: placeholderUid(org) })).toBe(UNKNOWN);
  });

  it("is never sent: not for a warning, an adoption or a function", async () => {
    const parent = placeholderUid(org) as string;
    const identity = placeholderUid(parent) as string;
    sent.length = 0;
    await planned("RoleBinding", "binding", { parent, identity, role: "viewer" });
    await planned("Group", "child", { parent, name: "child" });
    expect(await planned("Group", "match", { parent, name: "match", adopt: "match" })).toMatchObject({ uid: UNKNOWN });
    const role = await plugin.invoke("irm:index:getRole", { name: "publisher", parent });
    expect(role).toMatchObject({ name: "publisher" });
    expect(role.uid).not.toBe((await plugin.invoke("irm:index:getRole", { name: "publisher", parent })).uid);
    expect(await plugin.invoke("irm:index:listGroups", { uidp: { childrenOf: parent } })).toEqual({ groups: [] });
    expect(sent.filter((url) => url.includes(parent.slice(org.length)))).toEqual([]);
  });

  it("stands for one record in a check, and in no sentence", async () => {
    const parent = placeholderUid(org) as string;
    const identity = placeholderUid(parent) as string;
    const pair = { identity, role: "viewer" };
    const { failures } = await plugin.check(urnOf("RoleBindingSet", "twice"), { parent, bindings: [pair, pair] });
    expect(failures).toEqual(["bindings[1]: the same identity and role as bindings[0]"]);
    const count = plugin.messages.length;
    await planned("RoleBinding", "unnamed", { parent, identity, role: "viewer" });
    expect(plugin.messages.slice(count)).toEqual([
      'RoleBinding unnamed is new: identity (not known yet), role "viewer", group (not known yet)',
    ]);
  });

  it("has the name of its record in what follows", async () => {
    const parent = await uidOf("Group", "named", { parent: org, name: "named" });
    const identity = await uidOf("Identity", "named", { parent, name: "ci", claimMatch });
    // It has the uid of its group, and a name of its own.
    await uidOf("AccountAssociation", "named", { parent, name: "accounts", amazon: { account: "123456789012" } });
    const count = plugin.messages.length;
    await planned("RoleBinding", "named", { parent, identity, role: "viewer" });
    expect(plugin.messages.slice(count)).toEqual([
      'RoleBinding named is new: identity "ci", role "viewer", group "named"',
    ]);
  });
});
