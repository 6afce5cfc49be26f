// kill -9 of the process that serves our resources, and of the server, while a request is under way (docs/faults.md#f10,
// docs/faults.md#f11). The engine lives on, stores its state and ends with an error; nothing is locked.
import { beforeAll, describe, expect, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { onlyInSoak } from "../support/form.ts";
import { expectOne, expectWhole, group, interruptions, source } from "./interruption.ts";

const place = interruptions();

describe("kill -9 of the provider's process", () => {
  const first = source("create before");
  let program: Program;
  beforeAll(async () => {
    program = await place.program("provider", first);
  });

  it.each(["before", "after"] as const)(
    "%s the service carries out a create: the next up creates or adopts the record",
    async (at) => {
      if (at === "after") program.write(first + group("create after"));
      const held = place.proxy.hold("POST", /\/groups\//, at);
      const run = program.start("up", "--yes", "--skip-preview");
      await place.during(run, held);
      place.kill(place.providerOf(run));
      const { code } = await run.result;
      expect(code).not.toBe(0);
      held.release();
      await program.must("up", "--yes", "--skip-preview");
      expectOne(place.place, program, "groups", `create ${at}`);
    },
  );

  it("during an update and then a delete that the service carried out: up and destroy continue", async () => {
    program.write(first + group("create after", "second"));
    const before = place.proxy.seen.length;
    const patched = place.proxy.hold("PATCH", /\/groups\//, "after");
    const update = program.start("up", "--yes", "--skip-preview");
    await place.during(update, patched);
    place.kill(place.providerOf(update));
    expect((await update.result).code).not.toBe(0);
    patched.release();
    await program.must("up", "--yes", "--skip-preview");
    // The earlier creates left nothing to do.
    const writes = place.proxy.seen.slice(before).filter(({ method }) => method !== "GET");
    expect(new Set(writes.map(({ method }) => method))).toEqual(new Set(["PATCH"]));
    const uids = [
      expectOne(place.place, program, "groups", "create before"),
      await expectWhole(place.place, program, "groups", "create after"),
    ];
    expect(place.place.rows("groups", "uid = ?", uids[1] as string)[0]?.body.description).toBe("second");

    const gone = place.proxy.hold("DELETE", /\/groups\//, "after");
    const destroy = program.start("destroy", "--yes", "--skip-preview");
    await place.during(destroy, gone);
    place.kill(place.providerOf(destroy));
    expect((await destroy.result).code).not.toBe(0);
    gone.release();
    await program.must("destroy", "--yes", "--skip-preview");
    for (const uid of uids) expect(place.place.rows("groups", "uid = ?", uid)).toEqual([]);
    expect(program.state().resources).toEqual([]);
  });
});

// test/faults/f11-killed-server.test.ts has the same without an engine.
describe.skipIf(onlyInSoak)(`kill -9 of the server, started again on the same records${onlyInSoak}`, () => {
  it("before a create, and down for the rest of the run: the run fails, and the next up creates the record", async () => {
    // The next up waits until this request has timed out.
    const program = await place.program("away", source("away"), { IRM_REQUEST_TIMEOUT: "5" });
    await place.place.restart(async () => {
      const up = await program.run("up", "--yes", "--skip-preview");
      expect(up.code).not.toBe(0);
      expect(up.output).toContain("UNAVAILABLE");
    });
    expect(place.place.rows("groups", "name = ?", "away")).toEqual([]);
    await program.must("up", "--yes", "--skip-preview");
    await expectWhole(place.place, program, "groups", "away");
  });

  it("after a create and before its response: the same up finds the record", async () => {
    const program = await place.program("server", source("server"));
    place.proxy.cut("POST", /\/groups\//, "after", () => place.place.restart());
    await program.must("up", "--yes", "--skip-preview");
    const uid = expectOne(place.place, program, "groups", "server");

    program.write(source("server", "second"));
    place.proxy.cut("PATCH", /\/groups\//, "before", () => place.place.restart());
    await program.must("up", "--yes", "--skip-preview");
    expect(place.place.rows("groups", "uid = ?", uid)[0]?.body.description).toBe("second");
    expect(await expectWhole(place.place, program, "groups", "server")).toBe(uid);

    place.proxy.cut("DELETE", /\/groups\//, "after", () => place.place.restart());
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.place.rows("groups", "uid = ?", uid)).toEqual([]);
    expect(program.state().resources).toEqual([]);
  });
});
