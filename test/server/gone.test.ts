// A caller that waits no longer (cancelled, or its deadline has passed) before the service is reached: nothing is written.
import { expect, test } from "vitest";
import { grantsOf } from "../../server/authorize.ts";
import { ensureDevOrganization } from "../../server/organization.ts";
import { createPipeline } from "../../server/pipeline.ts";
import { unlimited } from "../../server/rate-limit.ts";
import { ensureBuiltInRoles } from "../../server/services/built-in-role.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createStore } from "../../server/store/store.ts";
import { countingIds, START_MS } from "../support/server.ts";

const start = () => {
  const store = createStore(openDatabase(":memory:"));
  const ids = countingIds();
  ensureBuiltInRoles(store, START_MS);
  const { identity, organization } = ensureDevOrganization(store, ids, "https://issuer.example", START_MS, undefined);
  const caller = { uid: identity, grants: grantsOf(store, identity), token: () => ({}) as never };
  const pipeline = createPipeline({
    authenticate: { bearer: () => "", caller: async () => caller },
    sts: {} as never,
    limit: unlimited,
    log: () => {},
    // What making a group takes of it.
    context: () => ({ store, ids, now: START_MS, identityRules: { anyone: "" } }) as never,
  });
  const groups = () => store.statement("SELECT name FROM groups WHERE parent IS NOT NULL").all();
  const create = (isGone: () => boolean) =>
    pipeline({
      operation: "CreateGroup",
      request: { parent: organization, group: { name: "made" } },
      violations: [],
      authorization: [],
      peer: "",
      isGone,
    });
  return { create, groups };
};

test("a call that is gone is CANCELLED, and no record is made", async () => {
  const { create, groups } = start();
  await expect(create(() => true)).rejects.toMatchObject({
    code: "CANCELLED",
    message: "Cancelled: the caller waits no longer",
  });
  expect(groups()).toEqual([]);
});

test("one that is not is served", async () => {
  const { create, groups } = start();
  expect(await create(() => false)).toMatchObject({ name: "made" });
  expect(groups()).toEqual([{ name: "made" }]);
});
