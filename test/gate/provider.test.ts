// The provider's own steps, first on a copy and then through the gate: what it sends there passes, and what it makes of lost answers and of
// refusals.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Call } from "../../access/change/methods.ts";
import { writesFrom } from "../../access/change/write.ts";
import { recordsOf, startTwin } from "../../cli/twin/twin.ts";
import { readConfig } from "../../client/credentials.ts";
import { inRun, type RunFile, writeRunFile } from "../../client/run-file.ts";
import { systemTransport } from "../../client/transport.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import * as reconcile from "../../provider/reconcile/index.ts";
import { type Session, sessionWith } from "../../provider/run/session.ts";
import type { Json } from "../../schema/index.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { copyOfServer } from "../harness/copy.ts";
import { type Change, throughGate } from "../harness/gate.ts";
import { createUid } from "../harness/records.ts";
import { getter, journalFolder, keyOf } from "../support/scripted.ts";

const { group, identity, role, roleBinding } = kindRecords;
const api = await serve({ faults: {} });
afterEach(() => api.faults.clear());

const runWith = (run: Omit<RunFile, "pid" | "journal">) => {
  const folder = mkdtempSync(join(journalFolder, "run-"));
  const journal = mkdtempSync(join(journalFolder, "journal-"));
  const whole = { ...run, pid: process.pid, ...(run.kind === "review" && { journal }) } as RunFile;
  const env = {
    ...{ IRM_BASE_URL: api.baseUrl, IRM_JOURNAL: journal, IRM_TOKEN: "of-the-job" },
    ...{ IRM_RUN: writeRunFile(folder, whole), IRM_IDENTITY: `${"a".repeat(40)}/${"b".repeat(16)}` },
  };
  const clock = manualClock();
  const messages: string[] = [];
  const log = (text: string) => void messages.push(text);
  const environment = { env, clock, log, transport: inRun(systemTransport(), env) };
  return { session: sessionWith(readConfig(getter(), env), environment), clock, messages };
};

type Act = (session: Session) => Promise<unknown>;

const changeBy = async (act: Act): Promise<Change> => {
  const copy = await copyOfServer(api);
  const calls: Call[] = [];
  const twin = await startTwin(copy, api.baseUrl, { clock: api.clock, onWrite: (call) => void calls.push(call) });
  try {
    const services = [{ address: api.baseUrl, url: twin.url, token: await twin.operatorToken(api.identity) }];
    await act(runWith({ kind: "review", services }).session);
    const recordOf = recordsOf(new Map([[api.baseUrl, twin]]), api.baseUrl);
    return { copy, writes: writesFrom(calls, { recordOf }).writes };
  } finally {
    await twin.close();
  }
};

const through = async (change: Change) => {
  const one = await throughGate(api, change);
  return { ...one, ...runWith({ kind: "apply", services: one.gate.services }) };
};

const claimMatch = { issuer: "https://issuer.example", subject: "s" };

test("all that it sends on a copy passes, whatever answers are lost: batches, an adoption and a forced delete", async () => {
  const old = await createUid(api, "groups", api.organization, { name: "old" });
  const bound = await createUid(api, "identities", await createUid(api, "groups", old, { name: "inner" }));
  await createUid(api, "roleBindings", old, { identityUid: bound, roleUid: await api.role("viewer") });
  const bot = await createUid(api, "identities", api.organization, { name: "bot", claimMatch });
  /** A team with a role, three bots that have it, and what is left of another team. */
  const act: Act = async (session) => {
    const create = (kind: typeof group, name: string, args: Json) =>
      reconcile.create(kind, session, { ...keyOf(name), ...args });
    const { id: parent } = await create(group, "team", { parent: api.organization, name: "team" });
    const capabilities = ["CAP_REPO_LIST"];
    const { id: roleUid } = await create(role, "publisher", { parent, name: "publisher", capabilities });
    const bots = await Promise.all(
      ["a", "b", "c"].map((name) =>
        create(identity, name, { parent, name, claimMatch: { ...claimMatch, subject: name } }),
      ),
    );
    await Promise.all(bots.map(({ id }, i) => create(roleBinding, `b-${i}`, { parent, identityUid: id, roleUid })));
    const renamed = { parent: api.organization, name: "renamed", claimMatch, adopt: bot };
    expect((await create(identity, "adopted", renamed)).id).toBe(bot);
    const stored = { uid: old, name: "old", forceDestroy: true, createTime: "2020-01-01T00:00:00Z" };
    await reconcile.remove(group, session, old, { ...keyOf("old"), ...stored });
  };
  const change = await changeBy(act);
  const { session, gate, messages, sent } = await through(change);
  const lost = [{ at: "after" as const, reset: true as const }, { status: 429, retryAfter: 1 }, { status: 503 }, {}];
  const creates = ["CreateGroup", "CreateIdentity", "BatchCreateRoleBindings"] as const;
  const others = ["UpdateIdentity", "DeleteGroup", "DeleteIdentity"] as const;
  api.faults.set({ rules: [...creates, ...others].map((operation) => ({ operation, steps: lost })) });
  await act(session);
  expect(gate.report()).toEqual({ applied: change.writes.length, refused: [], missing: [], unknown: [] });
  expect(messages[0]).toBe("this run goes through the gate of npx pulumi-irm apply");
  expect(session).not.toHaveProperty("isOnTwin");
  expect(await session.identity()).toBe(api.identity);
  expect(sent).toContain(`POST ${IAM}/roleBindings:batchCreate`);
  expect((await api.call("GET", `${IAM}/groups/${old}`)).status).toBe(404);
  expect(await api.ok("GET", `${IAM}/identities/${bot}`)).toMatchObject({ name: "renamed" });
  const listed = async (plural: string, query: Record<string, string>) =>
    (await api.ok("GET", `${IAM}/${plural}`, { query }))[plural];
  const teams = await listed("groups", { name: "team", "uidp.childrenOf": api.organization });
  expect(teams).toHaveLength(1);
  for (const [plural, count] of [
    ["identities", 3],
    ["roleBindings", 3],
    ["roles", 1],
  ] as const)
    expect(await listed(plural, { "uidp.childrenOf": teams[0].uid })).toHaveLength(count);
});

test("a refusal of the gate is final: it neither waits nor asks again", async () => {
  const org = (session: Session, name: string) =>
    reconcile.create(group, session, { ...keyOf("org"), name, parent: undefined });
  const change = await changeBy((session) => org(session, "mine"));
  const { session, gate, clock } = await through(change);
  const { id } = await org(session, "mine");
  clock.sleeps.length = 0;
  // In an organization of this run, a denial of the service is asked again with new tokens, for half a minute.
  const create = reconcile.create(identity, session, { ...keyOf("bot"), parent: id, name: "bot", claimMatch });
  await expect(create).rejects.toThrow(`CreateIdentity in ${id}: it is not in the change`);
  await expect(create).rejects.not.toThrow("docs/troubleshooting.md");
  expect(clock.sleeps).toEqual([]);
  expect(gate.report()).toMatchObject({ applied: 1, refused: [{ method: "CreateIdentity" }] });
});
