// A journal that cannot be written (docs/faults.md#f22).
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { journalPath } from "../../provider/journal/path.ts";
import type { World } from "../harness/small-engine/testbed.ts";
import { KINDS } from "./judge.ts";
import { STACK, scenario } from "./scenario.ts";

const journalOf = (world: World): string => join(world.folder, `${STACK}.journal`);

const fileOf = (world: World): string => {
  const env = { PULUMI_BACKEND_URL: `file://${world.folder}` };
  const config = { baseUrl: world.server.baseUrl, authUrl: "", requestTimeoutMs: 0, journal: journalOf(world) };
  return journalPath(`organization/faults/${STACK}`, config, env, world.folder);
};

// What is written to it fails as on a full disk.
const fill = (world: World): void => {
  rmSync(fileOf(world), { force: true });
  mkdirSync(journalOf(world), { recursive: true });
  symlinkSync("/dev/full", fileOf(world));
};

describe.concurrent("F22: a journal that cannot be written", () => {
  test.each(KINDS)("a full disk refuses a %s before the POST", (kind) =>
    scenario({
      kind,
      action: "create",
      act: async ({ world, subject }) => {
        // The first request asks for the service's time: what was left is known by then, and the intent not written. So the
        // organisation is not asked for before.
        const engine = world.engine(STACK, { env: { IRM_MOVED_FROM: world.organization } });
        const run = engine.start("up", subject.after, { point: "before send", of: "GET" });
        await run.paused;
        fill(world);
        run.goOn();
        const outcome = await run.outcome;
        await engine.end();
        rmSync(fileOf(world));
        return outcome;
      },
      fails: "cannot be written (ENOSPC)",
      attempts: 0,
    }),
  );
  test.each(KINDS)("a folder that is none refuses a %s before the POST", (kind) =>
    scenario({
      kind,
      action: "create",
      act: ({ world, subject }) => {
        writeFileSync(join(world.folder, "file"), "");
        const env = { IRM_JOURNAL: join(world.folder, "file", "journal") };
        return world.engine(STACK, { env }).run("up", subject.after);
      },
      fails: /the intent journal .+ cannot be (read|written) \(ENOTDIR\)/,
      attempts: 0,
    }),
  );
  test.each(KINDS)("a disk that is full once the POST is sent loses no %s", (kind) =>
    scenario({
      kind,
      action: "create",
      act: async ({ world, engine, subject }) => {
        const run = engine.start("up", subject.after, { point: "before send", of: "POST" });
        await run.paused;
        fill(world);
        run.goOn();
        const outcome = await run.outcome;
        await engine.end();
        rmSync(fileOf(world));
        expect(engine.said.join()).toContain("cannot be written (ENOSPC)");
        return outcome;
      },
      attempts: 1,
    }),
  );
});
