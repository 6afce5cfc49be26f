// A journal that cannot be written (docs/internals/faults.md#f22).
import { mkdirSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { journalPath } from "../../provider/run/journal-path.ts";
import { ADAPTERS } from "../harness/small-engine/provider.ts";
import type { Testbed } from "../harness/small-engine/testbed.ts";
import { KINDS } from "./judge.ts";
import { STACK, type Stage, scenario } from "./scenario.ts";
import { everyKind } from "./table.ts";

const journalOf = (testbed: Testbed): string => join(testbed.folder, `${STACK}.journal`);

const fileOf = (testbed: Testbed): string => {
  const env = { PULUMI_BACKEND_URL: `file://${testbed.folder}` };
  const config = { baseUrl: testbed.server.baseUrl, authUrl: "", requestTimeoutMs: 0, journal: journalOf(testbed) };
  return journalPath(`organization/faults/${STACK}`, config, env, testbed.folder);
};

// A write to it fails as on a full disk.
const fill = (testbed: Testbed): void => {
  rmSync(fileOf(testbed), { force: true });
  mkdirSync(journalOf(testbed), { recursive: true });
  symlinkSync("/dev/full", fileOf(testbed));
};

const replaceByFolder = (testbed: Testbed): void => {
  rmSync(fileOf(testbed));
  mkdirSync(fileOf(testbed));
};

/** Runs until this point of the POST, breaks the journal, and has written of the failure at the end. */
const breakAt =
  (
    point: "before send" | "after reply",
    breakIt: (testbed: Testbed) => void,
    mend: (path: string) => void,
    code: string,
  ) =>
  async ({ testbed, engine, subject }: Stage) => {
    const run = engine.start("up", subject.after, { point, of: "POST" });
    await run.paused;
    breakIt(testbed);
    run.resume();
    const outcome = await run.outcome;
    await engine.end();
    mend(fileOf(testbed));
    expect(engine.messages.join()).toContain(`cannot be written (${code})`);
    return outcome;
  };

describe.concurrent("F22: a journal that cannot be written", () => {
  test.each(everyKind())(
    "a file that can be read and not written refuses a $kind ($adapter) before the POST",
    (tried) =>
      scenario({
        ...tried,
        action: "create",
        act: async ({ testbed, engine, subject }) => {
          // There is nothing to read, and a write finds no folder. That also fails for root.
          rmSync(fileOf(testbed), { force: true });
          symlinkSync(join(testbed.folder, "no-folder", "journal"), fileOf(testbed));
          const outcome = await engine.run("up", subject.after);
          rmSync(fileOf(testbed));
          return outcome;
        },
        fails: "cannot be written (ENOENT)",
        attempts: 0,
      }),
  );
  // A plugin reads the journal after the POST too, for other processes of its run, and reading /dev/full never ends.
  test.each(KINDS)("a disk that fills up after the POST loses no %s (dynamic)", (kind) =>
    scenario({
      ...{ adapter: "dynamic", kind, action: "create", attempts: 1 },
      act: breakAt("before send", fill, rmSync, "ENOSPC"),
    }),
  );
  test.each(ADAPTERS)("a journal that becomes unusable after the POST loses no record (%s)", (adapter) =>
    scenario({
      ...{ adapter, kind: "group", action: "create", attempts: 1 },
      act: breakAt("after reply", replaceByFolder, rmdirSync, "EISDIR"),
    }),
  );
});
