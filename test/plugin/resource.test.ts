import { describe, expect, it } from "vitest";
import { AT, SERVICE } from "../../client/preview-marks.ts";
import { Secret } from "../../plugin/value.ts";
import { KEY, ORGANIZATION, PROVIDER, RUN } from "../../provider/record/state.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import { urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { service, org, plugin, startProcess, nextProcess, created, compared } = await setUp();

describe("a resource", () => {
  it("keeps its service once, no handler, and no key where its URN and the backend give it", async () => {
    const { inputs, outs, id } = await created("Group", { parent: org, name: "eng" });
    expect(inputs).toEqual({
      parent: org,
      name: "eng",
      [AT]: expect.stringMatching(`^${service.baseUrl} [0-9a-z]{7}`),
    });
    expect(outs).toMatchObject({ uid: id, parent: org, name: "eng" });
    for (const name of [KEY, SERVICE, PROVIDER]) expect(outs).not.toHaveProperty(name);
  });

  it("keeps the organization of the stack where the program says another than the backend", async () => {
    const urn = urnOf("Group", "of-acme");
    const { inputs } = await plugin.check(urn, { parent: org, name: "of-acme", [ORGANIZATION]: "acme" });
    expect(inputs).toMatchObject({ [ORGANIZATION]: "acme" });
    const one = { urn, inputs, ...(await plugin.create(urn, inputs)) };
    expect(await plugin.read(urn, one.id, one.outs, inputs)).toMatchObject({ inputs });
    const { inputs: later } = await plugin.check(urn, { parent: org, name: "of-acme" }, inputs);
    expect(later).toEqual(inputs);
    expect(await plugin.diff(urn, one.id, one.outs, later, inputs)).toMatchObject({ changes: false });
  });

  it("of a class of TypeScript has no output that the class derives, and a program in another language stores it", async () => {
    const args = { parent: org, name: "derived" };
    const ofClass = { ...args, [RUN]: { organization: "organization", isPreview: false } };
    const one = await created("Group", ofClass);
    expect(one.outs).toMatchObject({ uid: one.id });
    expect(one.outs).not.toHaveProperty("parent");
    expect(one.inputs).not.toHaveProperty(RUN);
    expect(await compared(one, ofClass)).toMatchObject({ changes: false });
    const other = await nextProcess();
    expect((await other.read(one.urn, one.id, one.outs, one.inputs)).outs).toEqual(one.outs);
    // A refresh compares, and no program has declared anything.
    expect(await other.diff(one.urn, one.id, one.outs, one.inputs, one.inputs)).toMatchObject({ changes: false });
    const { inputs } = await other.check(one.urn, args, one.inputs);
    // No property differs: replaceOnChanges applies to those.
    const found = await other.diff(one.urn, one.id, one.outs, inputs, one.inputs);
    expect(found).toMatchObject({ changes: true, replaces: [], detailed: {} });
    for (const preview of [true, false])
      expect(await other.update(one.urn, one.id, one.outs, inputs, { preview })).toMatchObject({
        outs: { parent: org },
      });
  });

  it("takes the names of a role binding from the check that the same program has made, and keeps none", async () => {
    const { id: group } = await created("Group", { parent: org, name: "named" });
    const claimMatch = { issuer: "https://issuer.example.com", subject: "named" };
    const { id: identity } = await created("Identity", { parent: group, name: "hidden", claimMatch });
    const names = { group: "named", identity: "[secret]", role: "viewer" };
    const args = { parent: group, identity, role: "viewer", [RUN]: { isPreview: false, names } };
    const one = await created("RoleBinding", args);
    expect(one.inputs).toEqual({
      parent: group,
      identity,
      role: "viewer",
      [AT]: expect.stringMatching(`^${service.baseUrl} [0-9a-z]{7}`),
    });
    expect(one.outs).toMatchObject({ identity: { uid: identity }, group: { name: "named" } });
    expect(JSON.stringify(one)).not.toMatch(/hidden|__role|names/);
    const { inputs } = await plugin.check(one.urn, { ...args, role: "editor" }, one.inputs);
    const { outs: updated } = await plugin.update(one.urn, one.id, one.outs, inputs);
    expect(updated).toMatchObject({ role: { name: "editor" } });
    expect(JSON.stringify(updated)).not.toContain("hidden");
    for (const name of [KEY, SERVICE, PROVIDER]) expect(updated).not.toHaveProperty(name);
  });

  it("leaves the uid of a role binding's group to the id where the class derives it, and another program stores it", async () => {
    const { id: group } = await created("Group", { parent: org, name: "placed" });
    const claimMatch = { issuer: "https://issuer.example.com", subject: "placed" };
    const { id: identity } = await created("Identity", { parent: group, name: "placed", claimMatch });
    const args = { parent: group, identity, role: "viewer" };
    const names = { group: "placed", identity: "placed", role: "viewer" };
    const ofClass = { ...args, [RUN]: { isPreview: false, names } };
    const one = await created("RoleBinding", ofClass);
    expect(one.outs.group).toEqual({ name: "placed" });
    expect(await compared(one, ofClass)).toMatchObject({ changes: false });
    const other = await nextProcess();
    expect((await other.read(one.urn, one.id, one.outs, one.inputs)).outs).toEqual(one.outs);
    const { inputs } = await other.check(one.urn, args, one.inputs);
    for (const preview of [true, false])
      expect((await other.update(one.urn, one.id, one.outs, inputs, { preview })).outs).toMatchObject({
        group: { uid: group, name: "placed" },
      });
    // A state of before, which has it, keeps it.
    const before = { ...one, outs: { ...one.outs, parent: group, group: { uid: group, name: "placed" } } };
    expect(await compared(before, ofClass)).toMatchObject({ changes: false });
    expect((await other.read(one.urn, one.id, before.outs, one.inputs)).outs).toEqual(before.outs);
  });

  it("of a state of the dynamic form, which repeats inputs in its outputs, is no change, and a read leaves its inputs as they are", async () => {
    const args = { parent: org, name: "older", description: "" };
    const { urn, id, ...one } = await created("Group", args);
    const own = {
      [KEY]: `organization/project/stack/Group::${urn.replace(/^.*::/, "")}`,
      [SERVICE]: service.baseUrl,
    };
    const { [AT]: _at, ...before } = one.inputs;
    const [inputs, outs] = [
      { ...before, ...own },
      { ...one.outs, ...own, [PROVIDER]: "the text of the dynamic one" },
    ];
    expect(await compared({ urn, id, inputs, outs }, args)).toMatchObject({ changes: false, detailed: {} });
    const read = await (await nextProcess()).read(urn, id, outs, inputs);
    expect(read).toMatchObject({ inputs, outs: one.outs });
    expect(await plugin.diff(urn, id, read.outs, inputs, read.inputs)).toMatchObject({ changes: false });
    await (await nextProcess()).delete(urn, id, outs);
  });

  it("is gone for a read after it was deleted, and a second delete is no error", async () => {
    const one = await created("Group", { parent: org, name: "gone" });
    const later = await nextProcess();
    await later.delete(one.urn, one.id, one.outs);
    service.clock.advance(10_000);
    expect(await later.read(one.urn, one.id, one.outs, one.inputs)).toMatchObject({ id: "" });
    await later.delete(one.urn, one.id, one.outs);
  });
});

describe("what a check looks up", () => {
  it("is the record that a resource adopts, once", async () => {
    const existing = await created("Group", { parent: org, name: "theirs", description: "x" });
    const urn = urnOf("Group", "adopts");
    const args = { parent: org, name: "theirs", adopt: "match" };
    const other = await nextProcess();
    const { inputs } = await other.check(urn, args);
    expect(inputs).toMatchObject({ adopt: existing.id, onDelete: "the adopted record stays" });
    expect(other.messages).toEqual([
      `Group adopts takes over group ${existing.id} "theirs"`,
      `Group adopts changes on group ${existing.id}:\n  - description: "x" becomes nothing`,
    ]);
    expect((await other.check(urn, args, inputs)).inputs).toEqual(inputs);
    expect(other.messages).toHaveLength(2);
    const none = await other.check(urnOf("Group", "none"), { ...args, name: "nowhere" });
    expect(none.failures).toEqual([`adopt: no groups that match in ${org}; exactly one is needed`]);
    const twins = [1, 2].map((n) => created("Group", { parent: org, name: "twin", description: `${n}` }));
    const lines = (await Promise.all(twins)).map(({ id }) => `  - ${id} twin`);
    const several = await other.check(urnOf("Group", "several"), { ...args, name: "twin" });
    const [head, ...listed] = (several.failures[0] ?? "").split("\n");
    expect(head).toBe(`adopt: 2 groups that match in ${org}; exactly one is needed`);
    expect(listed.toSorted()).toEqual(lines.toSorted());
    const later = await other.check(urnOf("Group", "later"), { ...args, parent: UNKNOWN });
    expect(later.inputs).toMatchObject({ adopt: UNKNOWN });
    // A uid needs nothing else.
    const byUid = await other.check(urnOf("Group", "by uid"), { parent: org, name: UNKNOWN, adopt: existing.id });
    expect(byUid.inputs).toMatchObject({ adopt: existing.id });
  });

  it("is the name of a built-in role, where there are credentials", async () => {
    const args = { parent: org, identity: UNKNOWN };
    expect((await plugin.check(urnOf("RoleBinding", "y"), { ...args, role: "viwer" })).failures).toEqual([
      'role: no built-in role is named "viwer"; did you mean viewer?',
    ]);
    const set = { parent: UNKNOWN, bindings: [{ identity: UNKNOWN, role: "ownr" }] };
    expect((await plugin.check(urnOf("RoleBindingSet", "y"), set)).failures).toEqual([
      'bindings[0].role: no built-in role is named "ownr"; did you mean owner?',
    ]);
    const offline = await startProcess({ IRM_IDENTITY_TOKEN: "" });
    await offline.configure();
    expect((await offline.check(urnOf("RoleBinding", "y"), { ...args, role: "viwer" })).failures).toEqual([]);
    const secret = { ...args, role: new Secret("viwer") };
    expect((await plugin.check(urnOf("RoleBinding", "z"), secret)).failures).toEqual([
      "role: no built-in role has this name",
    ]);
  });
});

describe("an import", () => {
  it("by Group.get belongs to the organization of the stack that the program names", async () => {
    const read = await plugin.read(urnOf("Group", "got"), org, { [ORGANIZATION]: "acme" });
    expect(read.outs).toMatchObject({ uid: org });
    expect(read.inputs).toMatchObject({ [ORGANIZATION]: "acme" });
    expect(read.outs).not.toHaveProperty(ORGANIZATION);
  });

  it("of a set manages what its group has", async () => {
    const group = await created("Group", { parent: org, name: "imported" });
    const who = await created("Identity", {
      parent: org,
      name: "who",
      claimMatch: { issuer: "https://y.example.com", subject: "who" },
    });
    await created("RoleBinding", { parent: group.id, identity: who.id, role: "viewer" });
    const urn = urnOf("RoleBindingSet", "imported");
    const other = await nextProcess();
    const set = await other.read(urn, group.id);
    expect(set.inputs).toMatchObject({ parent: group.id, bindings: [{ identity: who.id, role: "viewer" }] });
    const { inputs } = await other.check(
      urn,
      { parent: group.id, bindings: [{ identity: who.id, role: "viewer" }] },
      set.inputs,
    );
    expect((await other.diff(urn, group.id, set.outs, inputs, set.inputs)).changes).toBe(false);
  });

  it("of an invite has no code, and is not replaced for it", async () => {
    const args = { parent: org, role: "viewer", ttl: "600s" };
    const invite = await created("GroupInvite", args);
    expect(invite.outs.code).toBeInstanceOf(Secret);
    const urn = urnOf("GroupInvite", "imported");
    const other = await nextProcess();
    const read = await other.read(urn, invite.id);
    expect(read.outs.code).toBeUndefined();
    expect(read.inputs).toMatchObject(args);
    const { inputs } = await other.check(urn, args, read.inputs);
    expect((await other.diff(urn, invite.id, read.outs, inputs, read.inputs)).changes).toBe(false);
    const { inputs: news } = await other.check(urn, { ...args, role: "editor" }, read.inputs);
    expect((await other.diff(urn, invite.id, read.outs, news, read.inputs)).replaces).toEqual(["role"]);
  });
});
