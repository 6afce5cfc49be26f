// A create whose response is lost (docs/internals/faults.md#f3), or names a record other than the created one.
import { describe, expect, it } from "vitest";
import { DEADLINE_MS } from "../../../client/retry.ts";
import type { HttpAnswer } from "../../../client/transport.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { JournalError } from "../../../provider/log/entries.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { type Fault, noAnswer, type Service, startMachine } from "../../harness/provider.ts";
import { json, keyOf, page } from "../../support/scripted.ts";

const { group, role } = kindRecords;

const machine = startMachine();

/** The program means it, although an equal record exists. */
const duplicate = (args = machine.inputs()): Json => ({ ...args, allowDuplicate: true });

const hiding =
  (session: Session, operation: string): Session["call"] =>
  async (name, request, options) =>
    name === operation ? ({} as never) : session.call(name, request, options);

describe("a lost response to a create", () => {
  it.each<[Fault[], number, string]>([
    [["refused"], 2, "nothing was sent, so it is sent again"],
    [["reset"], 2, "no record is found, so it is sent again"],
    [["reset after"], 1, "the record is found"],
    [["timeout after"], 1, "the record is found"],
    [["reset", "reset after"], 2, "the second one's record is found"],
  ])("%s: one record, after %i requests: %s", async (faults, requests) => {
    const args = machine.inputs();
    const { session } = machine.run(...faults);
    const { id, outs } = await reconcile.create(group, session, args);
    expect(machine.posts).toBe(requests);
    expect(await machine.named(args.name)).toMatchObject([{ uid: id }]);
    expect(outs).toMatchObject({ uid: id, name: args.name, description: "d" });
  });

  it.each<[string, Fault]>([
    ["is settled only by a record of that time, and not by an older one with the same name", "reset"],
    ["is not settled in the next run by a record that is older than the entry", "timeout"],
  ])("%s: it creates one", async (_, fault) => {
    const args = duplicate();
    const older = await machine.createByOther(args);
    const create = (...faults: Fault[]) => reconcile.create(group, machine.runAt(10_000, ...faults).session, args);
    const { id } = await create(fault).catch(() => create());
    expect(id).not.toBe(older.uid);
    expect(machine.posts).toBe(2);
  });

  it("with two candidates fails, lists them, and creates nothing more", async () => {
    const args = machine.inputs();
    await machine.create(args, "timeout").catch(() => undefined);
    const twins = await Promise.all([machine.createByOther(args), machine.createByOther(args)]);
    const error = (await machine.create(args).catch((e: unknown) => e)) as Error;
    expect(error.message).toContain("the response to a create was lost, and 2 records match it:");
    for (const { uid } of twins) expect(error.message).toContain(`group ${uid} "${args.name}", created 2`);
    expect(error.message).toContain('Keep one with adopt: "<uid>" and delete the others.');
    expect(machine.posts).toBe(1);
  });

  it("with a record that is older than the entry by less than clocks may differ fails: its owner is unknown", async () => {
    const args = duplicate();
    const { uid, createTime } = await machine.createByOther(args);
    // By the service's clock, it is the second after.
    const date = new Date(Math.floor(Date.parse(createTime as string) / 1_000) * 1_000 + 1_000).toUTCString();
    const then = () =>
      machine.runOver(async ({ method }, send) => {
        if (method === "POST" && machine.posts === 1) throw noAnswer(true, true);
        const answer = await send();
        return { ...answer, headers: { ...answer.headers, date } };
      });
    await reconcile.create(group, then().session, args).catch(() => undefined);
    // This run has no list from before: another run sent the create.
    const error = (await reconcile.create(group, then().session, args).catch((e: unknown) => e)) as Error;
    expect(error.message).toContain("the response to a create was lost, and a record matches it:");
    expect(error.message).toContain(`group ${uid} "${args.name}", created 2`);
    expect(error.message).toContain('adopt it with adopt: "<uid>", or change it and run again');
    expect(machine.posts).toBe(1);
  });

  it("is not settled by a record that existed before, however new, nor by one with other inputs", async () => {
    const args = duplicate();
    const others = [await machine.createByOther(args), await machine.createByOther({ ...args, description: "other" })];
    const { id } = await machine.create(args, "reset");
    expect(others.map(({ uid }) => uid)).not.toContain(id);
    expect(machine.posts).toBe(2);
  });

  it("stays pending when the next attempt certainly fails", async () => {
    const args = machine.inputs();
    const { session } = machine.run("reset", "refused", "refused", "refused", "refused");
    await expect(reconcile.create(group, session, args)).rejects.toThrow("It is unknown whether the group was created");
    // The service carries out the reset request after all.
    const late = await machine.createByOther(args);
    const { id } = await machine.create(args);
    expect(id).toBe(late.uid);
  });

  it("has five attempts in all, whatever the faults", async () => {
    const { session, clock } = machine.runOver(async ({ method }, send) => {
      if (method !== "POST") return send();
      return machine.posts % 2 === 0 ? page(503) : { status: 429, headers: { "retry-after": "60" }, body: "" };
    });
    await expect(reconcile.create(group, session, machine.inputs())).rejects.toThrow();
    expect(machine.posts).toBe(5);
    expect(clock.now()).toBeLessThanOrEqual(DEADLINE_MS);
  });

  it("waits as the service asks, with jitter, and takes each retry from the quota of the process", async () => {
    const busy = { ...page(503), headers: { "retry-after": "15" } };
    const once = machine.runOver(async ({ method }, send) =>
      method === "POST" && machine.posts === 1 ? busy : send(),
    );
    await reconcile.create(group, once.session, machine.inputs());
    expect(once.clock.now()).toBe(15_500);
    let isDown = false;
    let requests = 0;
    const { session } = machine.runOver(async (_, send) => {
      requests += 1;
      return isDown ? busy : send();
    });
    const { id, outs } = await reconcile.create(group, session, machine.inputs());
    [isDown, requests] = [true, 0];
    for (let i = 0; i < 10; i += 1) {
      await expect(reconcile.create(group, session, machine.inputs())).rejects.toThrow("It is unknown");
      await expect(reconcile.read(group, session, id, outs)).rejects.toThrow("UNAVAILABLE");
    }
    // 500 tokens, 14 for each retry.
    expect(requests - 20).toBe(35);
  });

  it("of two equal resources: the next run gives each one of the two records", async () => {
    const args = machine.inputs();
    const other = { ...args, ...keyOf("alike-too") };
    for (const one of [args, other]) {
      // Its record is not readable during the run.
      const { session } = machine.run("timeout after");
      const hidden = { ...session, call: hiding(session, "ListGroups") };
      await expect(reconcile.create(group, hidden, one)).rejects.toThrow("It is unknown whether the group was created");
    }
    const next = machine.run().session;
    const ids = await Promise.all([args, other].map(async (one) => (await reconcile.create(group, next, one)).id));
    expect(new Set(ids).size).toBe(2);
    expect((await machine.named(args.name)).map(({ uid }) => uid).sort()).toEqual(ids.sort());
    expect(machine.posts).toBe(2);
  });
});

it("a create that is refused is reported with the API's message, even when the disk is full by then", async () => {
  const args: Json = { ...machine.inputs(), name: "x".repeat(300) };
  const { session } = machine.run();
  session.journal.recordFailure = () => Promise.reject(new JournalError("the disk is full"));
  await expect(reconcile.create(group, session, args)).rejects.toThrow("INVALID_ARGUMENT");
  expect(machine.messages).toEqual([`${args.__key}: the disk is full`]);
});

const bodyOf = (answer: HttpAnswer): Json => JSON.parse(answer.body) as Json;

/** A process whose create is carried out, with a response that `other` replaces. */
const answering = (other: (answer: HttpAnswer) => HttpAnswer | Promise<HttpAnswer>) =>
  machine.runOver(async ({ method }, send) => {
    const answer = await send();
    return method === "POST" ? other(answer) : answer;
  }).session;

const call: Service["call"] = (...request) => machine.service.call(...request);

type Answering = (answer: HttpAnswer) => HttpAnswer | Promise<HttpAnswer>;
const ROLE = { description: "d", capabilities: ["CAP_IAM_GROUPS_LIST"] };
const earlier = async (args = machine.inputs(), agoMs = 0, isDeleted = false): Promise<Answering> => {
  const record = await machine.createByOther(args);
  if (isDeleted) await call("DeleteGroup", { uid: record.uid });
  machine.service.clock.advance(agoMs);
  return () => json(record);
};
const elsewhere = async ({ name }: Json): Promise<Answering> => {
  const outer = await machine.createByOther(machine.inputs());
  const inner = await call("CreateGroup", { parent: outer.uid, group: { name, description: "d" } });
  return () => json(inner);
};
const roleNow = ({ name }: Json): Promise<Json> => call("CreateRole", { parent: machine.org, role: { ...ROLE, name } });
const nowhere = (answer: HttpAnswer): Json => ({
  ...bodyOf(answer),
  ...{ uid: `${machine.org}/0123456789abcdef`, description: "x" },
});
const rows: [string, (args: Json) => Answering | Promise<Answering>, string][] = [
  ["an older one with the same fields (a cache)", (args) => earlier(args), "existed before the create"],
  ["one deleted since (a cache)", (args) => earlier(args, 5_000, true), "may have existed before the create"],
  ["one of another parent", elsewhere, "is not in "],
  [
    "one that another caller creates at the same time, with other fields",
    () => async () => json(await machine.createByOther(machine.inputs())),
    "differs from what was requested",
  ],
  ["one of another kind, made then with its name", (args) => async () => json(await roleNow(args)), "is not a group"],
  ["a well-formed uid without a record", () => (own) => json(nowhere(own)), "differs from what was requested"],
];

it.each(rows)(
  "a response that names another record %s: only the created one is adopted",
  async (_what, prepare, why) => {
    const args: Json = { ...machine.inputs(), allowDuplicate: true };
    const other = await prepare(args);
    const before = new Set((await machine.named(undefined)).map(({ uid }) => uid));
    const { id, outs } = await reconcile.create(group, answering(other), args);
    expect(outs).toMatchObject({ uid: id, name: args.name, description: "d" });
    expect(before).not.toContain(id);
    expect(await machine.named(args.name)).toContainEqual(expect.objectContaining({ uid: id }));
    expect(machine.posts).toBe(1);
    const reported = machine.messages.filter((text) => text.includes("the response to CreateGroup names group"));
    expect(reported).toEqual([expect.stringContaining(`, which ${why}`)]);
    expect(reported[0]).toContain("it is not adopted, and the search for the created record continues");
    expect(machine.lines().filter(({ uid }) => uid)).toMatchObject([{ uid: id }]);
  },
);

it("a response with a record that this run has created for an equal resource: each gets its own", async () => {
  const args = machine.inputs();
  let first: HttpAnswer | undefined;
  const session = answering((answer) => {
    first ??= answer;
    return first;
  });
  const one = await reconcile.create(group, session, args);
  const two = await reconcile.create(group, session, { ...args, ...keyOf("alike") });
  expect(two.id).not.toBe(one.id);
  expect((await machine.named(args.name)).map(({ uid }) => uid).sort()).toEqual([one.id, two.id].sort());
});

it.each<[string, (answer: HttpAnswer) => HttpAnswer]>([
  ["a malformed uid", (answer) => json({ ...bodyOf(answer), uid: "../groups" })],
  ["an error in a success", () => json({ code: 7, message: "denied" })],
  ["a page", () => page(200)],
])("a response that names another record %s: the record is found", async (_what, other) => {
  const args = machine.inputs();
  const { id } = await reconcile.create(group, answering(other), args);
  expect(await machine.named(args.name)).toMatchObject([{ uid: id }]);
  expect(machine.posts).toBe(1);
});

const changing = () =>
  machine.runOver(async (request, send) => {
    if (request.method === "POST")
      request.body = (request.body as string).replace('"description":"d"', '"description":"other"');
    return send();
  }).session;

it("a service that created a record other than requested is reported with the record; no run adopts or creates one until a person decides", async () => {
  const args = machine.inputs();
  await expect(reconcile.create(group, changing(), args)).rejects.toThrow(
    new RegExp(
      `^${args.__key}: the response to its create names group ${machine.org}/\\w{16} "${args.name}", which differs ` +
        "from what was requested, and no other record matches\\.\nIf it belongs to this resource, adopt it with adopt: ",
    ),
  );
  await expect(machine.create(args)).rejects.toThrow("Until then nothing is created.");
  const [made, ...others] = await machine.named(args.name);
  expect([others, machine.posts]).toEqual([[], 1]);

  const { outs } = await machine.create({ ...args, adopt: made?.uid, deleteAdopted: true });
  expect(outs).toMatchObject({ uid: made?.uid, description: "d" });
  expect(await machine.unsettled(args)).toEqual([]);
});

it("a service that created a record other than requested is created again once that record is gone", async () => {
  const args = machine.inputs();
  await expect(reconcile.create(group, changing(), args)).rejects.toThrow("differs from what was requested");
  const [made] = await machine.named(args.name);
  machine.service.clock.advance(120_000);
  await call("DeleteGroup", { uid: made?.uid });
  const { id } = await machine.create(args);
  expect(await machine.named(args.name)).toMatchObject([{ uid: id, description: "d" }]);
});

it("a response to a read or an update with another record is refused and not stored", async () => {
  const args: Json = { ...keyOf("r"), parent: machine.org, name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] };
  const { id, outs } = await reconcile.create(role, machine.run().session, args);
  const other = await call("CreateRole", {
    parent: machine.org,
    role: { name: "s", capabilities: ["CAP_REPO_LIST"] },
  });
  const wrong = machine.runOver(async ({ url }, send) => {
    const answer = await send();
    return url.pathname.startsWith("/iam/") ? { ...answer, body: JSON.stringify(other) } : answer;
  }).session;
  const text = `UNKNOWN: the response (HTTP 200) is of another record, ${other.uid}`;
  await expect(reconcile.read(role, wrong, id, outs)).rejects.toThrow(`GetRole role ${id}: ${text}`);
  await expect(reconcile.update(role, wrong, id, outs, { ...args, description: "x" })).rejects.toThrow(
    `UpdateRole role ${id} "r": ${text}`,
  );
  await expect(reconcile.create(role, wrong, { ...args, ...keyOf("a"), adopt: id })).rejects.toThrow(text);
  // Sent to the right record, though.
  expect(await call("GetRole", { uid: id })).toMatchObject({ name: "r", description: "x" });
});
