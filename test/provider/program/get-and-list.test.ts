// Look-ups and lists as a program uses them, against the reference server.
import * as pulumi from "@pulumi/pulumi";
import { afterAll, describe, expect, it } from "vitest";
import { listAll } from "../../../client/paginate.ts";
import * as irm from "../../../provider/index.ts";
import { startService } from "../../harness/provider.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { json, ORG, scriptedSession } from "../../support/scripted.ts";

const GROUPS = { operation: "ListGroups", plural: "groups" } as const;
const call = (operation: string, request: object): Promise<{ uid: string }> =>
  service.session.call(operation as never, request as never) as never;
afterAll(async () => {
  for (const name of Object.keys(service.env)) delete process.env[name];
  await service.close();
});

const collect = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
};

const service = await startService();
const org: string = service.organization as string;
Object.assign(process.env, service.env);
await mockEngine(() => ({ id: "", state: {} }));
for (let i = 0; i < 7; i++) await call("CreateGroup", { parent: org, group: { name: `g${i}` } });

describe("lists", () => {
  it("read all pages", async () => {
    const groups = await collect(irm.listGroups({ uidp: { childrenOf: org }, pageSize: 2, orderBy: "name desc" }));
    expect(groups.map(({ name }) => name)).toEqual(["g6", "g5", "g4", "g3", "g2", "g1", "g0"]);
  });

  it("fetch no page before it is needed", async () => {
    const { session, requests } = scriptedSession(
      json({ groups: [{ uid: ORG, name: "a" }], nextPageToken: "2" }),
      json({ groups: [{ uid: `${ORG}/1111111111111111`, name: "b" }] }),
    );
    const list = listAll<irm.Group & { uid: never }>(session, GROUPS, {});
    expect(requests).toHaveLength(0);
    await list.next();
    expect(requests).toHaveLength(1);
    await list.next();
    expect(requests).toHaveLength(2);
  });

  it("return each record once, also when an expired page token restarts the list", async () => {
    const [a, b] = [
      { uid: ORG, name: "a" },
      { uid: `${ORG}/1111111111111111`, name: "b" },
    ];
    const { session } = scriptedSession(
      json({ groups: [a], nextPageToken: "2" }),
      json({ groups: [a], nextPageToken: "2 again" }),
      json({ groups: [b] }),
    );
    expect(await collect(listAll(session, GROUPS, {}))).toEqual([a, b]);
  });

  it("do not loop without end", async () => {
    const { session } = scriptedSession(json({ groups: [], nextPageToken: "2" }));
    await expect(collect(listAll(session, GROUPS, {}))).rejects.toThrow(
      "ListGroups: the service returned the same page token twice",
    );
  });

  it("exist for every kind", async () => {
    const uidp = { descendantsOf: org };
    expect((await collect(irm.listIdentities({ uidp }))).map(({ name }) => name)).toEqual(["owner"]);
    expect(await collect(irm.listRoles({ uidp }))).toEqual([]);
    expect((await collect(irm.listRoles({ uidp: { inRoot: true }, name: "viewer" }))).length).toBe(1);
    expect((await collect(irm.listRoleBindings({ uidp }))).map(({ role }) => role.name)).toEqual(["owner"]);
    expect(await collect(irm.listRepos({ uidp }))).toEqual([]);
    expect((await collect(irm.listRoleBindings({ role: "owner" }))).map(({ role }) => role.name)).toEqual(["owner"]);
    await expect(collect(irm.listRoleBindings({ role: "ownr" }))).rejects.toThrow(
      'no built-in role is named "ownr"; did you mean owner?',
    );
  });

  it("report the operation and the API's message", async () => {
    await expect(collect(irm.listGroups({ orderBy: "colour" }))).rejects.toThrow(
      /^ListGroups: INVALID_ARGUMENT: Invalid argument: orderBy/,
    );
  });
});

describe("look-ups", () => {
  it("find the one record of that name directly in a group", async () => {
    expect(await irm.getGroup({ parent: org, name: "g3" })).toMatchObject({ name: "g3", verified: false });
    expect((await irm.getIdentity({ parent: org, name: "owner" })).uid).toBe(service.identity);
  });

  it("search only root-level records when no parent is given", async () => {
    expect(
      (await irm.getGroup({ name: ((await call("GetGroup", { uid: org })) as unknown as { name: string }).name })).uid,
    ).toBe(org);
    await expect(irm.getGroup({ name: "g3" })).rejects.toThrow(
      'no group named "g3" at the root; exactly one is needed',
    );
  });

  it("find a built-in role, never one of the same name in a group", async () => {
    const role = { name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] };
    const { uid } = await call("CreateRole", { parent: org, role });
    expect((await irm.getRole({ name: "viewer" })).uid).toHaveLength(40);
    expect((await irm.getRole({ name: "viewer", parent: org })).uid).toBe(uid);
  });

  it("suggest the nearest names of the list for a missing one", async () => {
    await expect(irm.getRole({ name: "editr" })).rejects.toThrow(
      'no role named "editr" at the root; exactly one is needed; did you mean "editor"?',
    );
    await expect(irm.getGroup({ parent: org, name: "g66" })).rejects.toThrow(
      /^no group named "g66" in .*; did you mean "g6"/,
    );
    await expect(irm.getGroup({ parent: org, name: "nothing like it" })).rejects.toThrow(
      `no group named "nothing like it" in ${org}; exactly one is needed`,
    );
  });

  it("list the matches when there are several", async () => {
    const twins = [
      await call("CreateGroup", { parent: org, group: { name: "twin" } }),
      await call("CreateGroup", { parent: org, group: { name: "twin" } }),
    ];
    const error = await irm.getGroup({ parent: org, name: "twin" }).catch((thrown: Error) => thrown);
    const [head, ...list] = (error as Error).message.split("\n");
    expect(head).toBe(`2 groups named "twin" in ${org}; exactly one is needed`);
    expect(list.sort()).toEqual(twins.map(({ uid }) => `  - ${uid} "twin"`).sort());
  });

  it("refuse a parent that is undefined by mistake, and do not search the root", async () => {
    await expect(irm.getRole({ name: "viewer", parent: undefined })).rejects.toThrow(
      "parent of the role to look for was passed as undefined",
    );
    await expect(irm.getRole({} as never)).rejects.toThrow("name of the role to look for is required");
  });

  it("accept inputs that are known later", async () => {
    const found = irm.getGroupOutput({ parent: pulumi.output(org), name: Promise.resolve("g2") });
    expect(await new Promise((resolve) => found.apply(({ name }) => resolve(name)))).toBe("g2");
    const role = irm.getRoleOutput({ name: "viewer" });
    expect(await new Promise((resolve) => role.apply(({ uid }) => resolve(uid)))).toHaveLength(40);
    const identity = irm.getIdentityOutput({ parent: org, name: "owner" });
    expect(await new Promise((resolve) => identity.apply(({ uid }) => resolve(uid)))).toBe(service.identity);
  });
});
