// A twin of an organization: it decides as the original does, and nothing that is sent to it reaches the original.
import { afterAll, describe, expect, test } from "vitest";
import { accessOf, rowsBetween } from "../../cli/twin/access.ts";
import { startTwin } from "../../cli/twin/twin.ts";
import { createRecord } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import { clientOf } from "../access/client.ts";
import { createByHand } from "../harness/by-hand.ts";
import { copyOfServer, listEverything } from "../harness/copy.ts";
import { startSharedServer } from "../harness/shared-server.ts";

const api = await startSharedServer();
const made = await createByHand(api, api.organization);
const viewer = await api.actor("seen", { role: "viewer" });
const before = await listEverything(api);
const twin = await startTwin(await copyOfServer(api), api.baseUrl);
afterAll(() => twin.close());

describe("a twin", () => {
  test("says of each identity what the original says", async () => {
    const [own, its] = await Promise.all(
      [clientOf(api, viewer.token), await twin.clientOf(viewer.uid)].map((client) => client.call("Validate", {})),
    );
    expect(its?.capabilities).toEqual(own?.capabilities);
    expect(its?.capabilities).toHaveLength(1);
  });

  test("refuses what the identity may not do, and names what is missing where", async () => {
    const client = await twin.clientOf(viewer.uid);
    await expect(createRecord(client, resources.group, made.platform, { name: "new" })).rejects.toThrow(
      `Permission denied: needs groups.create at ${made.platform}`,
    );
  });

  test("shows a change in access, and the original never sees it", async () => {
    const owner = await twin.clientOf(api.identity);
    const identities = (before.identities ?? []).map(({ uid }) => uid as string);
    const held = await accessOf(twin, identities);
    expect(rowsBetween(held, held)).toEqual([]);
    const roleUid = await api.role("editor");
    const counted = twin.requests();
    const link = { identityUid: viewer.uid, roleUid };
    await createRecord(owner, resources.roleBinding, made.platform, link);
    expect(twin.requests() - counted).toBe(1);
    const gained = rowsBetween(await accessOf(twin, identities), held);
    expect(new Set(gained.map(({ identity, group }) => `${identity} ${group}`))).toEqual(
      new Set([`${viewer.uid} ${made.platform}`]),
    );
    // What the viewer holds above is not gained.
    const capabilities = gained.map(({ capability }) => capability);
    expect(capabilities).toContain("repo.create");
    expect(capabilities).not.toContain("groups.list");
    expect(await listEverything(api)).toEqual(before);
  });

  test("knows no identity that it has not: a token for it is refused", async () => {
    expect((await accessOf(twin, [`${api.organization}/0123456789abcdef`])).size).toBe(0);
  });
});
