// The detailed diff: which properties differ, which of them replace the record, and which record goes first.
import { describe, expect, it } from "vitest";
import { type Compared, detailedDiff } from "../../plugin/detailed-diff.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import { type Stored, setUp } from "./fixture.ts";

const { org, plugin, created, compared } = await setUp();

const update = (isInput = true) => ({ kind: "UPDATE", isInput });

describe("the detailed diff", () => {
  it("names items of lists and nested members", async () => {
    const role = await created("Role", { parent: org, name: "r", capabilities: ["groups.list", "repo.list"] });
    expect(
      (await compared(role, { parent: org, name: "r", capabilities: ["groups.list", "roles.list"] })).detailed,
    ).toEqual({
      "capabilities[1]": update(),
    });
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

  it("lets the old record of a unique name go first where the engine replaces it, unless the name or its place changes", async () => {
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

  it("marks what replaces the record", async () => {
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

  it("shows a parent that is not known yet as an update, where a replacement is not allowed", async () => {
    const one = await created("Group", { parent: org, name: "c" });
    const { inputs } = await plugin.check(one.urn, { parent: UNKNOWN, name: "c" }, one.inputs);
    const diff = await plugin.diff(one.urn, one.id, one.outs, inputs, one.inputs);
    expect(diff).toMatchObject({ changes: true, replaces: [], detailed: { parent: update() } });
    expect(plugin.messages.at(-1)).toContain("parent is not known yet, and the update refuses a different value");
  });

  it("shows drift, which the inputs do not have", async () => {
    const args = { parent: org, name: "d", description: "ours" };
    const one = await created("Group", args);
    const outs = { ...one.outs, description: "by hand" };
    expect((await plugin.diff(one.urn, one.id, outs, one.inputs, one.inputs)).detailed).toEqual({
      description: update(false),
    });
  });

  it("names the pairs of a set by their places", async () => {
    const group = await created("Group", { parent: org, name: "set" });
    const who = await Promise.all(
      ["a", "b", "c"].map((subject) =>
        created("Identity", { parent: org, name: subject, claimMatch: { issuer: "https://x.example.com", subject } }),
      ),
    );
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
});

describe("the detailed diff of an open stack", () => {
  const UID = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
  const kind = kindRecords.group;
  const news = { parent: UID.split("/")[0], name: "team", description: "one" };
  const outputs = (description: string) => ({ uid: UID, name: "team", description });
  const diff = (own: Pick<Compared, "olds" | "result"> & Partial<Compared>) =>
    [...detailedDiff(kind, { id: UID, news, oldInputs: news, ...own })].map(([path, { change, isReplacement }]) => [
      path,
      change,
      isReplacement,
    ]);

  it.each([
    ["compares with what is live, and not with the state", "two", "one"],
    ["names what the state lacks where the program already has what is live", "one", "old"],
  ])("%s", (_, live, stored) => {
    const result = { changes: true, replaces: [] };
    expect(diff({ olds: outputs(live), stored: outputs(stored), result })).toEqual([["description", "update", false]]);
  });

  it("names the uid of a record that is deleted", () => {
    const result = { changes: true, replaces: ["uid"], isGone: true } as const;
    expect(diff({ olds: outputs("one"), result: { ...result, replaces: [...result.replaces] } })).toEqual([
      ["uid", "update", true],
    ]);
  });
});
