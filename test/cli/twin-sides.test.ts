// A copy before and after a run: what is read of it, and whether its own authorization agrees with that.
import { afterAll, describe, expect, test } from "vitest";
import { newGraph } from "../../access/graph/graph.ts";
import { disagreements, rowsOf, type Sides, sidesOf } from "../../cli/twin/sides.ts";
import { readTwin, startTwin } from "../../cli/twin/twin.ts";
import type { Client } from "../../client/client.ts";
import { createRecord } from "../../client/records.ts";
import { BUILT_IN_ROLE_CAPABILITIES, resources } from "../../schema/index.ts";
import { copyOfServer } from "../harness/copy.ts";
import { createUid } from "../harness/records.ts";
import { startTeam } from "../harness/team.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const bot = await api.actor("bot", { role: publisher, at: registry });
await createUid(api, "repos", registry, { name: "images" });
afterAll(() => api.close());

/** What `act` makes of a copy. */
const sidesAfter = async (act: (client: Client) => Promise<unknown>): Promise<Sides> => {
  const twin = await startTwin(await copyOfServer(api), api.baseUrl);
  try {
    const before = await readTwin(twin);
    await act(await twin.operatorOf(api.identity));
    return await sidesOf(twin, before);
  } finally {
    await twin.close();
  }
};
const same = (uid: string) => uid;
const publishes = (client: Client) =>
  createRecord(client, resources.roleBinding, platform, { identityUid: bot.uid, roleUid: publisher });

describe("the copy agrees with the review", () => {
  test("on a change of bindings, of a role, and of identities", async () => {
    let made = "";
    const sides = await sidesAfter(async (client) => {
      await publishes(client);
      await client.call("UpdateRole", {
        role: { uid: publisher, capabilities: ["CAP_REPO_LIST", "CAP_REPO_CREATE"] },
        updateMask: "capabilities",
      } as never);
      const claimMatch = { issuer: "https://issuer.example", subject: "new" };
      const { uid } = await createRecord(client, resources.identity, platform, { name: "new", claimMatch });
      made = uid as string;
      await createRecord(client, resources.roleBinding, platform, { identityUid: uid, roleUid: publisher });
      await client.call("DeleteIdentity", { uid: reader.uid });
    });
    const rows = rowsOf(sides, same).map((row) => [row.change, row.identity, row.group, row.capability].join(" "));
    const gains = [made, bot.uid].flatMap((uid) =>
      ["create", "list"].map((verb) => `gain ${uid} ${platform} repo.${verb}`),
    );
    const losses =
      BUILT_IN_ROLE_CAPABILITIES.viewer?.map((capability) => `loss ${reader.uid} ${registry} ${capability}`) ?? [];
    const changed = `loss ${bot.uid} ${registry} tag.create`;
    expect(rows.toSorted()).toEqual([...gains, changed, ...losses].toSorted());
    expect(await disagreements([sides], same)).toEqual([]);
  });

  test("where nothing changes, and nobody is asked", async () => {
    const sides = await sidesAfter(async () => {});
    expect([rowsOf(sides, same), sides.decided.size, await disagreements([sides], same)]).toEqual([[], 0, []]);
  });
});

test("each row on which they differ is named, and is an error of this package", async () => {
  const sides = await sidesAfter(publishes);
  const [row] = rowsOf(sides, same).filter(({ capability }) => capability === "tag.create");
  expect(row).toEqual({ change: "gain", identity: bot.uid, group: platform, capability: "tag.create" });
  // The review does not see the role, or sees more in it.
  const withRole = (capabilities: string[]): Sides => {
    const { after } = sides;
    const graph = newGraph(after.graph);
    graph.roles.set(publisher, { ...graph.roles.get(publisher), capabilities } as never);
    return { ...sides, after: { ...after, graph } };
  };
  const less = await disagreements([withRole(["repo.list"])], same);
  expect(less).toContainEqual({
    row,
    message: "the copy decides so, and the review does not show it: this is an error of pulumi-irm",
  });
  const more = await disagreements([withRole(["repo.list", "tag.create", "groups.delete"])], same);
  expect(more).toEqual(
    [platform].map((group) => ({
      row: { change: "gain", identity: bot.uid, group, capability: "groups.delete" },
      message: "the review shows it, and the copy decides otherwise: this is an error of pulumi-irm",
    })),
  );
});

test("a role that is only named may grant anything; what the reader may not list is named", async () => {
  const twin = await startTwin(await copyOfServer(api, reader.token), api.baseUrl);
  try {
    const { graph, notVisible, held } = await readTwin(twin);
    expect(graph.roles.get(publisher)).toMatchObject({ name: "publisher", isUnlisted: true });
    expect([...graph.roles.values()].find(({ name }) => name === "viewer")).not.toHaveProperty("isUnlisted");
    expect(graph.identities.has(bot.uid)).toBe(true);
    expect(notVisible.map(({ kind }) => kind)).toContain("identity");
    expect(held).toMatchObject([{ kind: "repo", name: "images", group: registry }]);
  } finally {
    await twin.close();
  }
});
