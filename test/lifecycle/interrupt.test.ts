// ^C and kill -9 of the engine, and kill -9 of the process that serves our resources, while a request is under way (docs/faults.md#f10,
// docs/faults.md#f21), and a half-done create (docs/faults.md#f12). docs/recovery.md says what a person does then, in the words of these
// tests. test/faults has each point of each request, and the server that is killed, without an engine.
import { describe, expect, inject, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { isRunning, processesBelow } from "../support/process.ts";
import { expectOne, expectWhole, group, interruptions, PATIENT, source } from "./interruption.ts";

const place = interruptions();

const descriptionOf = (uid: string) => place.place.rows("groups", "uid = ?", uid)[0]?.body.description;
const isGone = (program: Program, uid: string): void => {
  expect(place.place.rows("groups", "uid = ?", uid)).toEqual([]);
  expect(program.state().resources).toEqual([]);
};

describe("^C during a create", () => {
  it("and SIGTERM let the create of a dynamic resource finish and store it", async () => {
    const program = await place.program("signals", "", {}, { ownProcess: true });
    const first = source("sigint");
    for (const [signal, text] of [
      ["SIGINT", first],
      ["SIGTERM", first + group("sigterm")],
    ] as const) {
      program.write(text);
      const held = place.proxy.hold("POST", /\/groups\//, "after");
      const run = program.start("up", "--yes", "--skip-preview");
      await place.during(run, held);
      process.kill(run.pid, signal);
      await expect.poll(run.output, { timeout: 60_000 }).toContain("received; cancelling.");
      held.release();
      const { code } = await run.result;
      expect(code).not.toBe(0);
      expect(program.state().pending).toEqual([]);
      expectOne(place.place, program, "groups", signal.toLowerCase());
    }
  });

  it("of the plugin ends the engine and all processes of the run at once, and the next up takes the record over", async () => {
    const text = source("interrupted", "first", "", "pulumi-irm/plugin");
    const options = { ownProcess: true, plugin: inject("pluginFolder") };
    const program = await place.program("interrupted", text, PATIENT, options);
    const held = place.proxy.hold("POST", /\/groups\//, "before");
    const run = program.start("up", "--yes", "--skip-preview");
    await place.during(run, held);
    const processes = processesBelow(run.pid, /./);
    expect(processes).toContain(place.providerOf(run));
    process.kill(run.pid, "SIGINT");
    // The request is still held.
    const { code, output } = await run.result;
    expect(code).not.toBe(0);
    expect(output).toContain("cancelled: the next update continues from the intent journal");
    await expect.poll(() => processes.filter(isRunning), { timeout: 5_000 }).toEqual([]);
    expect(program.state().pending).toEqual([]);
    const rows = () => place.place.rows("groups", "name = ?", "interrupted");
    expect(rows()).toEqual([]);

    held.release();
    await expect.poll(rows, { timeout: 60_000 }).toHaveLength(1);
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("created by an earlier run at");
    await expectWhole(place.place, program, "groups", "interrupted");
  });
});

describe("kill -9 of the engine", () => {
  let late: Program;

  it("during a create that the service carried out: after `pulumi cancel`, the next up adopts the record", async () => {
    const program = await place.program("created", source("created"), PATIENT, { ownProcess: true });
    const held = place.proxy.hold("POST", /\/groups\//, "after");
    const run = program.start("up", "--yes", "--skip-preview");
    await place.during(run, held);
    await place.killEngine(run, async (provider) => {
      // The provider's process, and so its lock, lives on until its create has ended.
      expect(isRunning(provider)).toBe(true);
      const locked = await program.run("up", "--yes", "--skip-preview");
      expect(isRunning(provider)).toBe(true);
      expect(locked.code).not.toBe(0);
      expect(locked.output).toContain("the stack is currently locked by 1 lock(s)");
      held.release();
      await program.must("cancel", "--yes");
      const up = await program.must("up", "--yes", "--skip-preview");
      expect(up.output).toContain("created by an earlier run at");
      expect(up.output).toContain("interrupted while creating");
    });
    await expectWhole(place.place, program, "groups", "created");

    // The engine keeps the pending operation until a refresh.
    expect(program.state().pending.map(({ type }) => type)).toEqual(["creating"]);
    await program.must("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
    expect(program.state().pending).toEqual([]);
  });

  it("during a create that the service receives later: the next up waits for it and creates no other", async () => {
    const program = await place.program("late", source("late"), PATIENT);
    late = program;
    const held = place.proxy.hold("POST", /\/groups\//, "before");
    const run = program.start("up", "--yes", "--skip-preview");
    await place.during(run, held);
    await place.killEngine(run, async (provider) => {
      // Its process is killed as well: the request is in flight without a client.
      place.kill(provider);
      await program.must("cancel", "--yes");
      const lists = () => place.proxy.seen.filter(({ path }) => path.includes("name=late")).length;
      // ^C ends the wait, and the run after it goes on waiting.
      const waiting = program.start("up", "--yes", "--skip-preview");
      await expect.poll(waiting.output, { timeout: 120_000 }).toContain("an earlier request may still create");
      process.kill(waiting.pid, "SIGINT");
      const interrupted = await waiting.result;
      expect(interrupted.code).not.toBe(0);
      expect(interrupted.output).toContain("Group::late: cancelled: the next update continues from the intent journal");
      const before = lists();
      const up = program.start("up", "--yes", "--skip-preview");
      await expect.poll(lists, { timeout: 120_000 }).toBeGreaterThan(before + 1);
      held.release();
      const { code, output } = await up.result;
      expect(code, output).toBe(0);
      expect(output).toContain("created by an earlier run at");
    });
    expectOne(place.place, program, "groups", "late");
  });

  it("during an update and then a delete that the service carried out: up and destroy continue", async () => {
    const program = late;
    program.write(source("late", "second"));
    const before = place.proxy.seen.length;
    const patched = place.proxy.hold("PATCH", /\/groups\//, "after");
    const update = program.start("up", "--yes", "--skip-preview");
    await place.during(update, patched);
    await place.killEngine(update, async () => {
      patched.release();
      await program.must("cancel", "--yes");
      await program.must("up", "--yes", "--skip-preview");
    });
    const writes = place.proxy.seen.slice(before).filter(({ method }) => method !== "GET");
    expect(new Set(writes.map(({ method }) => method))).toEqual(new Set(["PATCH"]));
    const uid = expectOne(place.place, program, "groups", "late");
    expect(descriptionOf(uid)).toBe("second");

    const gone = place.proxy.hold("DELETE", /\/groups\//, "after");
    const destroy = program.start("destroy", "--yes", "--skip-preview");
    await place.during(destroy, gone);
    await place.killEngine(destroy, async () => {
      gone.release();
      await program.must("cancel", "--yes");
      await program.must("destroy", "--yes", "--skip-preview");
    });
    isGone(program, uid);
  });
});

// The engine lives on, stores its state and ends with an error; nothing is locked.
describe("an engine whose provider fails", () => {
  it("since it was killed during a create and then a delete that the service carried out: up and destroy continue", async () => {
    const program = await place.program("provider", source("provider"));
    for (const [method, ...args] of [
      ["POST", "up", "--yes", "--skip-preview"],
      ["DELETE", "destroy", "--yes", "--skip-preview"],
    ] as const) {
      const held = place.proxy.hold(method, /\/groups\//, "after");
      const run = program.start(...args);
      await place.during(run, held);
      place.kill(place.providerOf(run));
      expect((await run.result).code).not.toBe(0);
      held.release();
      const [uid] = program.state().resources.flatMap(({ outputs }) => (outputs?.uid ? [outputs.uid as string] : []));
      await program.must(...args);
      if (method === "POST") expectOne(place.place, program, "groups", "provider");
      else isGone(program, uid as string);
    }
  });

  it("since the service refuses the change of what it has adopted: that is recorded, and the next up applies the change", async () => {
    const path = `/iam/v2beta1/groups/${place.place.server.organization}`;
    const { json } = await place.place.call("POST", path, { name: "half", description: "old" });
    const program = await place.program("half", source("half", "new", ', adopt: "match"'));
    const denied = { code: 7, message: "Permission denied: no", details: [] };
    const stop = place.proxy.answer("PATCH", /\/groups\//, 403, denied);
    const refused = await program.run("up", "--yes", "--skip-preview");
    stop();
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain(`UpdateGroup group ${json.uid} "half": PERMISSION_DENIED: Permission denied: no`);
    const held = program.state().resources.find(({ id }) => id === json.uid);
    expect(held?.outputs).toMatchObject({ uid: json.uid, description: "old", adopted: true });

    await program.must("up", "--yes", "--skip-preview");
    expect(expectOne(place.place, program, "groups", "half")).toBe(json.uid);
    expect(descriptionOf(json.uid as string)).toBe("new");
  });
});
