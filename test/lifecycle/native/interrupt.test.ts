// ^C of the engine, and kill -9 of the engine or of its plugin, while the plugin creates a record (docs/faults.md#f10,
// docs/faults.md#f21).
import { describe, expect, inject, it } from "vitest";
import { onlyInSoak } from "../../support/form.ts";
import { isRunning, processesBelow } from "../../support/process.ts";
import { expectOne, expectWhole, group, interruptions, PATIENT, source } from "../interruption.ts";

const place = interruptions();

const programOf = (name: string) =>
  place.program(name, source(name, "first", "", "pulumi-irm/plugin"), PATIENT, {
    ownProcess: true,
    plugin: inject("pluginFolder"),
  });

describe("^C during a create of the plugin", () => {
  it("ends the engine and all processes of the run at once, and the next up takes the record over", async () => {
    const program = await programOf("interrupted");
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
    expect(place.place.rows("groups", "name = ?", "interrupted")).toEqual([]);

    held.release();
    await expect.poll(() => place.place.rows("groups", "name = ?", "interrupted"), { timeout: 60_000 }).toHaveLength(1);
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("created by an earlier run at");
    await expectWhole(place.place, program, "groups", "interrupted");
  });
});

// test/faults/f10-killed-client.test.ts has each point of each method, without an engine.
describe.skipIf(onlyInSoak)(`kill -9 during a create of the plugin${onlyInSoak}`, () => {
  it("of the engine, then of the plugin: the next up adopts the record, and ^C ends its wait for a request in flight", async () => {
    const program = await programOf("killed");
    const held = place.proxy.hold("POST", /\/groups\//, "after");
    const run = program.start("up", "--yes", "--skip-preview");
    await place.during(run, held);
    await place.killEngine(run, async (plugin) => {
      expect(isRunning(plugin)).toBe(true);
      held.release();
      await program.must("cancel", "--yes");
    });
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("created by an earlier run at");
    expectOne(place.place, program, "groups", "killed");

    // The same stack: the pending operation of the engine is no obstacle.
    program.write(`${source("killed", "first", "", "pulumi-irm/plugin")}${group("second")}`);
    const second = place.proxy.hold("POST", /\/groups\//, "before");
    const next = program.start("up", "--yes", "--skip-preview");
    await place.during(next, second);
    place.kill(place.providerOf(next));
    const { code } = await next.result;
    expect(code, "the engine lives on, and ends with an error").not.toBe(0);

    // The request is in flight without a client, so the next up waits. ^C ends that, and the run after it goes on.
    const waiting = program.start("up", "--yes", "--skip-preview");
    await expect.poll(waiting.output, { timeout: 120_000 }).toContain("an earlier request may still create");
    const processes = processesBelow(waiting.pid, /./);
    expect(processes).toContain(place.providerOf(waiting));
    process.kill(waiting.pid, "SIGINT");
    const interrupted = await waiting.result;
    expect(interrupted.code).not.toBe(0);
    expect(interrupted.output).toMatch(/Group second .*error: cancelled: the next update continues from/);
    await expect.poll(() => processes.filter(isRunning), { timeout: 5_000 }).toEqual([]);
    second.release();
    const last = await program.must("up", "--yes", "--skip-preview");
    expect(last.output).toContain("created by an earlier run at");
    expectOne(place.place, program, "groups", "second");
    await expectWhole(place.place, program, "groups", "killed");
  });
});
