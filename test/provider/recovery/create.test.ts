// A create whose response is lost (docs/faults.md#f3), with the fault between the provider and the wire.
import { describe, expect, it } from "vitest";
import { DEADLINE_MS } from "../../../client/retry.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { JournalError } from "../../../provider/log/file.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Session } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { type Fault, noAnswer, startMachine } from "../../harness/provider.ts";
import { keyOf, page } from "../../support/scripted.ts";

const { group } = kindRecords;

const machine = startMachine();

/** The program means it, although an equal record exists. */
const duplicate = (args = machine.inputs()): Json => ({ ...args, allowDuplicate: true });

/** Calls whose lists of this operation are empty. */
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

  it("with Retry-After is sent again after that time, which includes the search", async () => {
    const { session, clock } = machine.run("503 in 30 s");
    await reconcile.create(group, session, machine.inputs());
    expect(machine.posts).toBe(2);
    expect(clock.now()).toBe(30_500);
    expect(clock.sleeps.length).toBeGreaterThan(1);
  });

  it("by a timeout, with no record found: fails, and the next run finds the late record", async () => {
    const args = machine.inputs();
    await expect(reconcile.create(group, machine.run("timeout").session, args)).rejects.toThrow(
      "It is unknown whether the group was created. The intent journal keeps the create as pending, and the next run searches for the record first.",
    );
    expect(await machine.named(args.name)).toEqual([]);
    const late = await machine.createByOther(args);
    const { id } = await reconcile.create(group, machine.run().session, args);
    expect(id).toBe(late.uid);
    expect(machine.posts).toBe(1);
    const reported = machine.messages.filter((text) => !text.startsWith("waiting"));
    expect(reported).toEqual([expect.stringContaining(`adopting group ${id} "${args.name}"`)]);
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

  it("is settled by a record with the same inputs only", async () => {
    const args = machine.inputs();
    const { session } = machine.run("reset");
    const other = await machine.createByOther({ ...args, description: "another" });
    const { id } = await reconcile.create(group, session, args);
    expect(id).not.toBe(other.uid);
  });

  it("with two candidates fails, lists them, and creates nothing more", async () => {
    const args = machine.inputs();
    await reconcile.create(group, machine.run("timeout").session, args).catch(() => undefined);
    const twins = await Promise.all([machine.createByOther(args), machine.createByOther(args)]);
    const error = (await reconcile.create(group, machine.run().session, args).catch((e: unknown) => e)) as Error;
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

  it("is not settled by a record that existed before, however new", async () => {
    const args = duplicate();
    const there = await machine.createByOther(args);
    const { id } = await reconcile.create(group, machine.run("reset").session, args);
    expect(id).not.toBe(there.uid);
    expect(machine.posts).toBe(2);
  });

  it("stays pending when the next attempt certainly fails", async () => {
    const args = machine.inputs();
    const { session } = machine.run("reset", "refused", "refused", "refused", "refused");
    await expect(reconcile.create(group, session, args)).rejects.toThrow("It is unknown whether the group was created");
    // The service carries out the reset request after all.
    const late = await machine.createByOther(args);
    const { id } = await reconcile.create(group, machine.run().session, args);
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
