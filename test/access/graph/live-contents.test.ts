// What groups hold beside access, which blocks their deletion: listed of a live service, and what a caller may not list.
import { afterAll, expect, test } from "vitest";
import { readHeldRecords } from "../../../access/graph/live-contents.ts";
import { startServer } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { startTeam } from "../../harness/team.ts";
import { clientOf } from "../client.ts";

const { api, platform, registry } = await startTeam();
const images: string = await createUid(api, "repos", registry, { name: "images" });
for (const [group, name] of [
  [platform, "clouds"],
  [registry, "more clouds"],
] as const)
  await createUid(api, "accountAssociations", group, { name });
afterAll(() => api.close());

const here = (uid: string) => ({ uid, service: api.baseUrl });
const ofOwner = () => clientOf(api);

test("repos and account associations of a group and of those below it, each once", async () => {
  const held = await readHeldRecords(ofOwner, [here(platform), here(registry)]);
  expect(held.unseen).toEqual(new Map());
  expect(held.records).toEqual([
    { kind: "repo", uid: images, name: "images", group: registry },
    { kind: "account association", uid: platform, name: "clouds", group: platform },
    { kind: "account association", uid: registry, name: "more clouds", group: registry },
  ]);
  expect((await readHeldRecords(ofOwner, [here(registry)])).records.map(({ group }) => group)).toEqual([
    registry,
    registry,
  ]);
});

test("nothing is asked where no group is deleted", async () => {
  const paths: string[] = [];
  expect(await readHeldRecords(() => clientOf(api, api.owner.token, paths), [])).toEqual({
    records: [],
    unseen: new Map(),
  });
  expect(paths).toEqual([]);
});

test("what the caller may not list there is named, and the rest is listed", async () => {
  const puller = await api.actor("puller", { role: "registry.pull", at: platform });
  const held = await readHeldRecords(() => clientOf(api, puller.token), [here(platform)]);
  expect(held.records.map(({ kind, name }) => [kind, name])).toEqual([["repo", "images"]]);
  expect(held.unseen).toEqual(new Map([[platform, ["account associations"]]]));
  const stranger = await api.actor("stranger");
  const none = await readHeldRecords(() => clientOf(api, stranger.token), [here(platform)]);
  expect(none).toEqual({ records: [], unseen: new Map([[platform, ["repos", "account associations"]]]) });
});

test("each group is asked of its own service", async () => {
  const other = await startServer();
  try {
    const repo = await createUid(other, "repos", other.organization, { name: "there" });
    const clients = new Map([
      [api.baseUrl, clientOf(api)],
      [other.baseUrl, clientOf(other)],
    ]);
    const groups = [here(registry), { uid: other.organization, service: other.baseUrl }];
    const held = await readHeldRecords((service = "") => clients.get(service) ?? clientOf(api), groups);
    expect(held.records.filter(({ kind }) => kind === "repo").map(({ uid }) => uid)).toEqual([images, repo]);
    expect(held.unseen).toEqual(new Map());
  } finally {
    await other.close();
  }
});
