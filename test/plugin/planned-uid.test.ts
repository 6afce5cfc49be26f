// What a preview shows for the uids of new resources, and of what refers to them.
import { beforeAll, describe, expect, it } from "vitest";
import { UNKNOWN } from "../../provider/record/normal-form.ts";
import type { Json } from "../../schema/index.ts";
import { type PluginClient, urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const fixture = setUp();
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };

describe("the uid of a new resource in a preview", () => {
  let plugin: PluginClient;
  let org: string;
  beforeAll(async () => {
    org = fixture.org;
    plugin = await fixture.nextProcess();
  });
  const planned = async (type: string, name: string, args: Json): Promise<Json> => {
    const { inputs, failures } = await plugin.check(urnOf(type, name), args);
    expect(failures).toEqual([]);
    return (await plugin.create(urnOf(type, name), inputs, { preview: true })).outs;
  };
  const uidOf = async (...own: Parameters<typeof planned>): Promise<unknown> => (await planned(...own)).uid;

  it("is unknown, as with every provider", async () => {
    expect(await uidOf("Group", "new", { parent: org, name: "new" })).toBe(UNKNOWN);
    expect(await uidOf("Group", "root", { root: true, name: "root" })).toBe(UNKNOWN);
    expect(await uidOf("Identity", "below", { parent: UNKNOWN, name: "below", claimMatch })).toBe(UNKNOWN);
  });

  it("is that of its group for what has no uid of its own", async () => {
    const amazon = { account: "123456789012" };
    for (const parent of [org, UNKNOWN]) {
      expect(await uidOf("AccountAssociation", "accounts", { parent, name: "accounts", amazon })).toBe(parent);
      expect(await uidOf("RoleBindingSet", "set", { parent, bindings: [] })).toBe(parent);
    }
  });

  it("is that of the adopted record, and unknown where it is not known which", async () => {
    const args = { parent: org, name: "by hand" };
    const { id } = await fixture.created("Group", args);
    expect(await uidOf("Group", "adopts", { ...args, adopt: id })).toBe(id);
    expect(await uidOf("Group", "unclear", { ...args, adopt: UNKNOWN })).toBe(UNKNOWN);
  });

  it("leaves the names of a sentence to the program: one unknown uid is not another one", async () => {
    await uidOf("Group", "named", { parent: org, name: "named" });
    const pair = { parent: UNKNOWN, identity: UNKNOWN, role: "viewer" };
    const count = plugin.messages.length;
    await planned("RoleBinding", "unnamed", pair);
    await planned("RoleBinding", "named", { ...pair, names: { identity: "ci", group: "named" } });
    expect(plugin.messages.slice(count)).toEqual([
      'RoleBinding unnamed is new: identity (not known yet), role "viewer", group (not known yet)',
      'RoleBinding named is new: identity "ci", role "viewer", group "named"',
    ]);
  });
});
