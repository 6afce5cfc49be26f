import { beforeEach, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { Incomplete } from "../../../provider/reconcile/incomplete.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Kind } from "../../../provider/record/kind.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";
import { GROUP, json, keyOf, ORG, page, scriptedSession } from "../../support/scripted.ts";

const { group, roleBinding } = kindRecords;
const service = await startSharedService();
const org: string = service.organization as string;
beforeEach(() => {
  service.requests.length = 0;
});

const TEXT = "exports.handler=…";
let created = 0;

/** As the engine does: passes checked inputs, and keeps the outputs with `__provider` as the state. */
const create = async (kind: Kind, args: Json) => {
  const { inputs, failures } = reconcile.check(kind, {}, { ...args, __provider: TEXT, ...keyOf(`${++created}`) });
  expect(failures).toEqual([]);
  const { id, outs } = await reconcile.create(kind, service.session, inputs);
  return { id, inputs, outs: { ...outs, __provider: TEXT } as Json };
};

const { call } = service;
it("an update keeps a change by hand to fields that the program does not change", async () => {
  const { id, outs } = await create(group, { parent: org, name: "eng", description: "ours" });
  await call("UpdateGroup", { group: { uid: id, description: "theirs" }, updateMask: "description" });
  const news = { parent: org, name: "new", description: "ours" };
  const { outs: after } = await reconcile.update(group, service.session, id, outs, news);
  expect(after).toMatchObject({ name: "new", description: "theirs" });
  const { session } = scriptedSession(json({ uid: GROUP, name: "new", description: "by hand" }));
  const run = reconcile.update(group, session, GROUP, { uid: GROUP, name: "old" }, { parent: ORG, name: "new" });
  expect((await run).outs).toMatchObject({ name: "new", description: "by hand" });
});

it("an update fails with the fields of a wrong response, and stores the real values", async () => {
  const answer = { uid: GROUP, name: "eng", description: "cut off", verified: false };
  const { session } = scriptedSession(json(answer));
  const news = { ...keyOf("eng"), parent: ORG, name: "eng", description: "cut off here", __provider: TEXT };
  const error = await reconcile
    .update(group, session, GROUP, { uid: GROUP, name: "eng" }, news)
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Incomplete);
  expect(error).toMatchObject({
    id: GROUP,
    properties: { ...answer, __provider: TEXT },
    reasons: [
      `UpdateGroup group ${GROUP} "eng": the API returned a different value for description than requested\nSee docs/troubleshooting.md#refused`,
    ],
  });
});

it("a create of an organization posts to the collection, and one below it has its permission", async () => {
  const { id } = await create(group, { root: true, name: "new-org" });
  expect(service.requests.at(-1)?.url.pathname).toBe("/iam/v2beta1/groups");
  expect(id).toMatch(/^[0-9a-f]{40}$/);
  await create(group, { parent: id, name: "below" });
});

it("a create whose search fails as well reports an unknown outcome, and sends nothing again", async () => {
  const { session, requests } = scriptedSession(page(502));
  const creating = reconcile.create(group, session, { ...keyOf("eng"), parent: ORG, name: "eng" });
  const error = await creating.catch((e: Error) => e);
  expect(error).not.toBeInstanceOf(Incomplete);
  expect((error as Error).message).toMatch(new RegExp(`^CreateGroup group "eng" in ${ORG}: UNAVAILABLE: `));
  expect(String(error)).toContain(
    "It is unknown whether the group was created. The intent journal keeps the create as pending, and the next run searches " +
      "for the record first.\nThe search for it failed as well: ListGroups: ",
  );
  expect(requests.filter(({ method }) => method === "POST")).toHaveLength(1);
});

it("a create returns no value that the engine's wire format cannot hold, which would lose the record", async () => {
  const { session } = scriptedSession(json({ uid: GROUP, name: null, novelty: { a: null } }));
  const { outs } = await reconcile
    .create(roleBinding, session, { ...keyOf("rb"), parent: ORG })
    .catch((error: Incomplete) => ({ outs: error.properties }));
  expect(Object.hasOwn(outs, "identity")).toBe(false);
  expect(outs).toEqual({ uid: GROUP, parent: ORG, novelty: {} });
});
