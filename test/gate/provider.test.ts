// The provider's own steps, first on a copy and then through the gate: what it sends there passes, and what it makes of lost answers and of
// refusals.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
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
import { IAM, startServer } from "../harness/api-server.ts";
import { type ManualClock, manualClock } from "../harness/clock.ts";
import { copyOfServer } from "../harness/copy.ts";
import { type Change, gateTo, type Through } from "../harness/gate.ts";
import { createUid } from "../harness/records.ts";
import { getter, journalFolder, keyOf } from "../support/scripted.ts";

const { group, identity, role, roleBinding } = kindRecords;
const api = await startServer({ faults: {} });
const open: Through[] = [];
afterAll(() => api.close());
afterEach(async () => {
  api.faults.clear();
  await Promise.all(open.splice(0).map(({ gate }) => gate.close()));
});

interface Run {
  session: Session;
  clock: ManualClock;
  messages: string[];
}

const runWith = (run: Omit<RunFile, "pid" | "journal">): Run => {
  const folder = mkdtempSync(join(journalFolder, "run-"));
  const journal = mkdtempSync(join(journalFolder, "journal-"));
  const whole = { ...run, pid: process.pid, ...(run.kind === "review" && { journal }) } as RunFile;
  const env = {
    ...{
      IRM_BASE_URL: api.baseUrl,
      IRM_JOURNAL: journal,
      IRM_TOKEN: "of-the-job",
      IRM_RUN: writeRunFile(folder, whole),
    },
    IRM_IDENTITY: `${"a".repeat(40)}/${"b".repeat(16)}`,
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

const throughGate = async (change: Change): Promise<Through & Run> => {
  const one = await gateTo(api, change);
  open.push(one);
  return { ...one, ...runWith({ kind: "apply", services: one.gate.services }) };
};

const claimMatch = { issuer: "https://issuer.example", subject: "s" };
const done = { refused: [], missing: [], unknown: [] };

/** A team with a role, three bots that have it, and what is left of another team. */
const act =
  ({ old, bot, name: team }: { old: string; bot: string; name: string }): Act =>
  async (session) => {
    const create = (kind: typeof group, name: string, args: Json) =>
      reconcile.create(kind, session, { ...keyOf(name), ...args });
    const { id: parent } = await create(group, "team", { parent: api.organization, name: team });
    const publisher = await create(role, "publisher", {
      parent,
      name: "publisher",
      capabilities: ["CAP_REPO_LIST"],
    });
    const bots = await Promise.all(
      ["a", "b", "c"].map((name) =>
        create(identity, name, { parent, name, claimMatch: { ...claimMatch, subject: name } }),
      ),
    );
    await Promise.all(
      bots.map(({ id }, i) => create(roleBinding, `binding-${i}`, { parent, identityUid: id, roleUid: publisher.id })),
    );
    const stored = (kind: string, outs: Json) => ({ ...keyOf(kind), ...outs });
    const adopted = await reconcile.create(identity, session, {
      ...keyOf("adopted"),
      ...{ parent: api.organization, name: "renamed", claimMatch, adopt: bot },
    });
    expect(adopted.id).toBe(bot);
    await reconcile.remove(
      group,
      session,
      old,
      stored("old", { uid: old, name: "old", forceDestroy: true, createTime: "2020-01-01T00:00:00Z" }),
    );
  };

const startOld = async (name: string) => {
  const old = await createUid(api, "groups", api.organization, { name: "old" });
  const inner = await createUid(api, "groups", old, { name: "inner" });
  const bound = await createUid(api, "identities", inner, { name: "bound" });
  const viewer = await api.role("viewer");
  await createUid(api, "roleBindings", old, { identityUid: bound, roleUid: viewer });
  const bot = await createUid(api, "identities", api.organization, { name: "bot", claimMatch });
  return { old, bot, name };
};

test("all that it sends on the copy passes: batches, an adoption and a forced delete", async () => {
  const given = await startOld("team-1");
  const change = await changeBy(act(given));
  const { session, gate, messages, sent } = await throughGate(change);
  await act(given)(session);
  expect(gate.report()).toEqual({ applied: change.writes.length, ...done });
  expect(messages[0]).toBe("this run goes through the gate of npx pulumi-irm apply");
  expect(session).not.toHaveProperty("isOnTwin");
  expect(await session.identity()).toBe(api.identity);
  expect(sent).toContain(`POST ${IAM}/roleBindings:batchCreate`);
  expect((await api.call("GET", `${IAM}/groups/${given.old}`)).status).toBe(404);
  expect(await api.ok("GET", `${IAM}/identities/${given.bot}`)).toMatchObject({ name: "renamed" });
});

test("lost answers and throttling on the way to the service change nothing of that", async () => {
  const given = await startOld("team-2");
  const change = await changeBy(act(given));
  const { session, gate } = await throughGate(change);
  const lost = [{ at: "after" as const, reset: true as const }, { status: 429, retryAfter: 1 }, { status: 503 }, {}];
  const operations = [
    "CreateGroup",
    "CreateIdentity",
    "BatchCreateRoleBindings",
    "UpdateIdentity",
    "DeleteGroup",
    "DeleteIdentity",
  ] as const;
  api.faults.set({ rules: operations.map((operation) => ({ operation, steps: lost })) });
  await act(given)(session);
  expect(gate.report()).toEqual({ applied: change.writes.length, ...done });
  const { groups } = await api.ok("GET", `${IAM}/groups`, {
    query: { name: given.name, "uidp.childrenOf": api.organization },
  });
  const [team, ...others] = groups;
  expect(others).toEqual([]);
  for (const [plural, count] of [
    ["identities", 3],
    ["roleBindings", 3],
    ["roles", 1],
  ] as const)
    expect((await api.ok("GET", `${IAM}/${plural}`, { query: { "uidp.childrenOf": team.uid } }))[plural]).toHaveLength(
      count,
    );
});

test("a refusal of the gate is final: it neither waits nor asks again", async () => {
  const org = (session: Session, name: string) =>
    reconcile.create(group, session, { ...keyOf("org"), name, parent: undefined });
  const change = await changeBy((session) => org(session, "mine"));
  const { session, gate, clock } = await throughGate(change);
  const { id } = await org(session, "mine");
  clock.sleeps.length = 0;
  // In an organization of this run, a denial of the service is asked again with new tokens, for half a minute.
  const create = reconcile.create(identity, session, { ...keyOf("bot"), parent: id, name: "bot", claimMatch });
  await expect(create).rejects.toThrow(`CreateIdentity in ${id}: it is not in the change`);
  await expect(create).rejects.not.toThrow("docs/recovery.md");
  expect(clock.sleeps).toEqual([]);
  expect(gate.report()).toMatchObject({ applied: 1, refused: [{ method: "CreateIdentity" }] });
});
