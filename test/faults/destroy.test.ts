// A create with an unknown outcome, then `destroy`, so that no run settles it (docs/faults.md#l1).
import { expect, test } from "vitest";
import type { FaultScript } from "../../server/index.ts";
import type { Program } from "../harness/small-engine/program.ts";
import { ADAPTERS } from "../harness/small-engine/provider.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed } from "../harness/small-engine/testbed.ts";
import { STACK } from "./scenario.ts";

const rows: { how: string; script?: FaultScript }[] = [
  { how: "killed after the reply" },
  {
    how: "timed out, and carried out later",
    script: { rules: [{ operation: "CreateGroup", steps: [{ hold: true }] }] },
  },
];
const cases = ADAPTERS.flatMap((adapter) => rows.map((row) => ({ adapter, ...row })));

test.concurrent.each(cases)(
  "a create with an unknown outcome, then `destroy` reports the record of a run that was $how ($adapter)",
  async ({ adapter, script }) => {
    const testbed = await startTestbed(adapter);
    const engine = testbed.engine(STACK);
    try {
      const program: Program = ["kept", "lost"].map((name) => ({
        name,
        kind: "group",
        inputs: { parent: testbed.home, name },
      }));
      expect(await engine.run("up", program.slice(0, 1))).toMatchObject({ errors: [] });
      const before = await testbed.records();
      if (script) {
        testbed.server.faults?.set(script);
        expect((await engine.run("up", program, { shortTimeout: { ms: 3_000, method: "POST" } })).errors).toHaveLength(
          1,
        );
        testbed.server.faults?.release();
        await testbed.waitForAttempts("CreateGroup", 1, true);
        testbed.server.faults?.clear();
      } else {
        await engine.start("up", program, { point: "after reply", of: "POST" }).paused;
        await engine.kill();
      }
      const [lost] = [...(await testbed.records()).keys()].filter((uid) => !before.has(uid));
      expect(await engine.run("destroy")).toMatchObject({ errors: [] });
      expect(engine.messages.join("\n")).toContain(`group ${lost} "lost"`);
      expect(readState(testbed.stateFile(STACK)).resources).toEqual([]);
    } finally {
      await engine.kill();
      await testbed.close();
    }
  },
);
