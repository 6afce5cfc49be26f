// Repos that sync from another (docs/internals/contract.md#sync-source): their source, and the inherited fields, which are read-only.
import { describe, expect, test } from "vitest";
import { type Actor, REGISTRY, serve } from "../../harness/api-server.ts";
import { DAY_MS, START_MS } from "../../harness/clock.ts";
import { createRecord, createUid, recordOf } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectInvalid, type Violations } from "../../support/refusal.ts";

const PATH = `${REGISTRY}/repos`;
const INHERITED = "is inherited from the repo that this one syncs from and cannot be changed";
const api = await serve();
const group = (parent: string, name: string): Promise<string> => createUid(api, "groups", parent, { name });
const eng: string = await group(api.organization, "eng");
const mirrors: string = await group(api.organization, "mirrors");

let count = 0;
const repo = async (body: Body = {}, parent = eng): Promise<Body> =>
  api.ok("POST", `${PATH}/${parent}`, { body: { name: `repo-${++count}`, ...body } });
const sync = (source: string, body: Body = {}, token?: string) =>
  api.call("POST", `${PATH}/${mirrors}`, {
    body: { name: `mirror-${++count}`, sync_config: { source }, ...body },
    ...(token && { token }),
  });
const createSynced = (source: string, body: Body = {}): Promise<Body> => recordOf(sync(source, body));
const get = (uid: string) => api.ok("GET", `${PATH}/${uid}`);
const patch = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask } });
const expectViolations = (answer: Answer, violations: Violations) => expectInvalid(answer, violations, "registry");

const SHOWN = {
  catalogTier: "CATALOG_TIER_BASE",
  bundles: ["base", "fips"],
  aliases: ["nginx:latest"],
  activeTags: ["latest"],
};

describe("the source", () => {
  test("is a uid, a path in the catalog or an image, and is kept as the uid", async () => {
    const { uid, name } = await repo();
    for (const source of [uid, `dev/eng/${name}`, `cgr.dev/dev/eng/${name}`, `localhost:5000/dev/eng/${name}`]) {
      const { sync_config } = await createSynced(source);
      expect(sync_config).toEqual({ source: uid, expirationTime: new Date(START_MS + 14 * DAY_MS).toISOString() });
    }
  });

  test("ignores fields that only the server sets", async () => {
    const { uid: source } = await repo();
    const set = { expirationTime: "2099-01-01T00:00:00Z", uniqueTags: true, apkoOverlay: "x", gracePeriod: true };
    const { sync_config } = await createSynced(source, { sync_config: { source, ...set } });
    expect(Object.keys(sync_config)).toEqual(["source", "expirationTime"]);
    expect(sync_config.expirationTime).not.toBe(set.expirationTime);
  });

  test.each<[string, string]>([
    ["an unknown uid", `${"f".repeat(40)}/ffffffffffffffff`],
    ["a path that begins below the root", "eng/repo-1"],
    ["a host alone before the name", "cgr.dev/repo-1"],
  ])("is refused as %s", async (_, source) => {
    await repo({}, eng);
    expectViolations(await sync(source), {
      "sync_config.source": `${JSON.stringify(source)} is not a repo that you may pull from`,
    });
  });

  test("must be one that the caller may pull from: others are refused like missing ones", async () => {
    const other = await api.actor("other");
    const { uid: root } = await createRecord(api, "groups", "", { name: "theirs" }, other.token);
    const secret = await api.ok("POST", `${PATH}/${root}`, { token: other.token, body: { name: "secret" } });
    for (const source of [secret.uid, "theirs/secret"])
      expectViolations(await sync(source), {
        "sync_config.source": `${JSON.stringify(source)} is not a repo that you may pull from`,
      });
    // A caller that may pull there may sync from there, once it may also write here.
    const body = { identityUid: other.uid, roleUid: await api.role("editor") };
    await createRecord(api, "roleBindings", mirrors, body);
    const { json } = await sync("theirs/secret", {}, other.token);
    expect(json.sync_config.source).toBe(secret.uid);
  });

  test("must be one that the caller may pull from, and not only list", async () => {
    const { uid } = await repo();
    const role = await createRecord(api, "roles", api.organization, {
      name: "lister",
      capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"],
    });
    const lister: Actor = await api.actor("lister", { role: role.uid });
    expect((await sync(uid, {}, lister.token)).status).toBe(400);
  });

  test("may not be the repo itself", async () => {
    const { uid } = await repo();
    expectViolations(await patch(uid, { sync_config: { source: uid } }), {
      "sync_config.source": "must be another repo",
    });
  });
});

describe("a repo that syncs", () => {
  test("shows the current values of its source, and its own description if it has one", async () => {
    const source = await repo({ ...SHOWN, description: "theirs" });
    const { uid } = await createSynced(source.uid);
    expect(await get(uid)).toMatchObject({ ...SHOWN, description: "theirs" });
    await patch(source.uid, { bundles: ["ai"], aliases: [], description: "changed" });
    const after = await get(uid);
    expect(after).toMatchObject({ bundles: ["ai"], description: "changed", activeTags: ["latest"] });
    expect(after).not.toHaveProperty("aliases");
    expect((await patch(uid, { description: "ours" })).json.description).toBe("ours");
    expect((await patch(uid, {}, "description")).json.description).toBe("changed");
  });

  test("shows them through other repos, and also in a list and in v1", async () => {
    const source = await repo(SHOWN);
    const middle = await createSynced(source.uid);
    const end = await createSynced(middle.uid);
    expect(end).toMatchObject(SHOWN);
    const { repos } = await api.ok("GET", PATH, { query: { "uidp.ids": end.uid } });
    expect(repos).toEqual([end]);
    const { items } = await api.ok("GET", "/registry/v1/repos", { query: { id: end.uid } });
    expect(items[0]).toMatchObject({
      ...SHOWN,
      catalogTier: "BASE",
      sync_config: { source: middle.uid, expiration: end.sync_config.expirationTime },
    });
  });

  test("in a sync cycle shows no inherited values, and does not loop", async () => {
    const one = await repo(SHOWN);
    const two = await createSynced(one.uid);
    await recordOf(patch(one.uid, { sync_config: { source: two.uid } }));
    for (const uid of [one.uid, two.uid]) expect(await get(uid)).not.toHaveProperty("bundles");
  });

  test("shows nothing of a source that was deleted", async () => {
    const source = await repo(SHOWN);
    const { uid } = await createSynced(source.uid);
    await api.ok("DELETE", `${PATH}/${source.uid}`);
    const left = await get(uid);
    expect(left.sync_config.source).toBe(source.uid);
    expect(left).not.toHaveProperty("bundles");
  });

  test.each<[string, Body]>([
    ["the bundles, which it would lose", { bundles: [] }],
    ["the aliases, in another order or not", { aliases: ["nginx:1", "nginx:latest"] }],
  ])("cannot change %s", async (_, body) => {
    const { uid: source } = await repo(SHOWN);
    const before = await createSynced(source);
    const [field] = Object.keys(body) as [string];
    expectViolations(await patch(before.uid, body), { [field]: INHERITED });
    expect(await get(before.uid)).toEqual(before);
  });

  test("cannot be created with other values, and the error names them all", async () => {
    const { uid: source } = await repo(SHOWN);
    const answer = await sync(source, { bundles: ["ai"], activeTags: ["1"], aliases: SHOWN.aliases });
    expectViolations(answer, { bundles: INHERITED, activeTags: INHERITED });
  });

  test("may restate what it inherits, or leave it unset in a full replacement", async () => {
    const { uid: source } = await repo(SHOWN);
    const before = await createSynced(source, SHOWN);
    expect((await patch(before.uid, SHOWN)).json).toMatchObject(SHOWN);
    const replaced = await patch(before.uid, { name: before.name, sync_config: { source } }, "*");
    expect(replaced.json).toMatchObject({ ...SHOWN, sync_config: before.sync_config });
  });

  test("that gets another source shows its values, and keeps its expiry", async () => {
    const [one, two] = [await repo(SHOWN), await repo({ bundles: ["ai"] })];
    const { uid, sync_config } = await createSynced(one.uid);
    api.clock.advance(1000);
    const answer = await patch(uid, { sync_config: { source: two.uid } });
    expect(answer.json).toMatchObject({
      bundles: ["ai"],
      sync_config: { source: two.uid, expirationTime: sync_config.expirationTime },
    });
    expect(answer.json).not.toHaveProperty("aliases");
  });

  test("that stops syncing keeps its last values, and may change them", async () => {
    const { uid: source } = await repo(SHOWN);
    const { uid } = await createSynced(source);
    const { json } = await patch(uid, {}, "sync_config");
    expect(json).toMatchObject(SHOWN);
    expect(json).not.toHaveProperty("sync_config");
    expect((await patch(uid, { bundles: ["ai"] })).json.bundles).toEqual(["ai"]);
  });
});
