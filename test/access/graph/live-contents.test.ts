// What groups hold beside access, which blocks their deletion: listed of a live service, and what a caller may not list.
import { afterAll, expect, test } from "vitest";
import { readHeldRecords } from "../../../access/graph/live-contents.ts";
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

const ofOwner = clientOf(api);

test("repos and account associations of a group and of those below it, each once", async () => {
  const held = await readHeldRecords(ofOwner, [platform, registry]);
  expect(held.unseen).toEqual(new Map());
  expect(held.records).toEqual([
    { kind: "repo", uid: images, name: "images", group: registry },
    { kind: "account association", uid: platform, name: "clouds", group: platform },
    { kind: "account association", uid: registry, name: "more clouds", group: registry },
  ]);
  expect((await readHeldRecords(ofOwner, [registry])).records.map(({ group }) => group)).toEqual([registry, registry]);
});

test("nothing is asked where no group is deleted", async () => {
  const paths: string[] = [];
  expect(await readHeldRecords(clientOf(api, api.owner.token, paths), [])).toEqual({
    records: [],
    unseen: new Map(),
  });
  expect(paths).toEqual([]);
});

test("what the caller may not list there is named, and the rest is listed", async () => {
  const puller = await api.actor("puller", { role: "registry.pull", at: platform });
  const held = await readHeldRecords(clientOf(api, puller.token), [platform]);
  expect(held.records.map(({ kind, name }) => [kind, name])).toEqual([["repo", "images"]]);
  expect(held.unseen).toEqual(new Map([[platform, ["account associations"]]]));
  const stranger = await api.actor("stranger");
  const none = await readHeldRecords(clientOf(api, stranger.token), [platform]);
  expect(none).toEqual({ records: [], unseen: new Map([[platform, ["repos", "account associations"]]]) });
});
