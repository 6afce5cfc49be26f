// ^C, SIGTERM and kill -9 of the engine while a request is under way (docs/faults.md#f10, docs/faults.md#f21). docs/recovery.md
// says what a person does then, in the words of these tests.
import { describe, expect, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { isRunning } from "../support/process.ts";
import { expectOne, expectWhole, group, interruptions, PATIENT, source } from "./interruption.ts";

const place = interruptions();

describe("a signal during a create", () => {
  it("lets the create finish and stores it: the next up finds nothing to do", async () => {
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
    await program.must("preview", "--expect-no-changes");
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
    const uid = await expectWhole(place.place, program, "groups", "late");
    expect(place.place.rows("groups", "uid = ?", uid)[0]?.body.description).toBe("second");

    const gone = place.proxy.hold("DELETE", /\/groups\//, "after");
    const destroy = program.start("destroy", "--yes", "--skip-preview");
    await place.during(destroy, gone);
    await place.killEngine(destroy, async () => {
      gone.release();
      await program.must("cancel", "--yes");
      await program.must("destroy", "--yes", "--skip-preview");
    });
    expect(place.place.rows("groups", "uid = ?", uid)).toEqual([]);
    expect(program.state().resources).toEqual([]);
  });
});
