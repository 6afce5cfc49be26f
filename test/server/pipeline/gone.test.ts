// A caller that has stopped waiting (cancelled, or past its deadline) before the service is reached: nothing is written, and
// no refresh token is used up.
import { expect, test } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { unlimited } from "../../../server/base/rate-limit.ts";
import { grantsOf } from "../../../server/caller/caller.ts";
import { type Call, createPipeline } from "../../../server/pipeline/pipeline.ts";
import { ensureRoles } from "../../../server/seed/roles.ts";
import { ensureDevOrganization } from "../../../server/seed/start.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { countingIds } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";

const decoded = (request: Json) => ({ decode: async () => ({ request, violations: [] }) });

const start = () => {
  const store = createStore(openDatabase(":memory:"));
  const ids = countingIds();
  ensureRoles(store, undefined, START_MS);
  const { identity, organization } = ensureDevOrganization(store, ids, "https://issuer.example", START_MS, undefined);
  const caller = { uid: identity, grants: grantsOf(store, identity), token: () => ({}) as never };
  const exchanged: string[] = [];
  const exchangeRefreshToken = async (_: unknown, bearer: string) => {
    exchanged.push(bearer);
    return { token: { token: "t" } };
  };
  const pipeline = createPipeline({
    authenticate: { bearer: () => "bearer", token: async () => ({ uid: identity, callerNow: () => caller }) },
    sts: { exchangeRefreshToken } as never,
    store,
    limit: unlimited,
    log: () => {},
    // Called when a group is created.
    context: () => ({ store, ids, now: START_MS, identityRules: { anyone: "" } }) as never,
  });
  const groups = () => store.statement("SELECT name FROM groups WHERE parent IS NOT NULL").all();
  const create = (endedBy: NonNullable<Call["endedBy"]>) =>
    pipeline({
      operation: "CreateGroup",
      wire: "grpc",
      ...decoded({ parent: organization, group: { name: "made" } }),
      authorization: [],
      peer: "",
      endedBy,
    });
  const exchange = (endedBy: NonNullable<Call["endedBy"]>) =>
    pipeline({
      operation: "ExchangeRefreshToken",
      wire: "grpc",
      ...decoded({}),
      authorization: [],
      peer: "",
      endedBy,
    });
  return { create, groups, exchange, exchanged };
};

const GONE = [
  ["CANCELLED", "Cancelled: the caller is no longer waiting"],
  ["DEADLINE_EXCEEDED", "Deadline exceeded: the caller is no longer waiting"],
] as const;

test.each(GONE)("an abandoned call is %s, and creates no record", async (code, message) => {
  const { create, groups } = start();
  await expect(create(() => code)).rejects.toMatchObject({ code, message });
  expect(groups()).toEqual([]);
});

test.each(GONE)("an abandoned exchange is %s, before the token is checked", async (code, message) => {
  const { exchange, exchanged } = start();
  await expect(exchange(() => code)).rejects.toMatchObject({ code, message });
  expect(exchanged).toEqual([]);
  expect(await exchange(() => undefined)).toMatchObject({ token: { token: "t" } });
  expect(exchanged).toEqual(["bearer"]);
});

test("other calls are served", async () => {
  const { create, groups } = start();
  expect(await create(() => undefined)).toMatchObject({ name: "made" });
  expect(groups()).toEqual([{ name: "made" }]);
});
