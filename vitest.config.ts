import { join } from "node:path";
import { defineConfig } from "vitest/config";

// .ci/run adds the totals up from this file.
const reportFolder = process.env.IRM_REPORT_DIR;
const json = reportFolder === undefined ? [] : [["json", { outputFile: join(reportFolder, "vitest.json") }] as const];

// The groups run one after the other, fast ones first.
export default defineConfig({
  test: {
    reporters: ["default", ...json],
    projects: [
      {
        // Needs no engine: `npm run check` runs these.
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["client", "faults", "lifecycle", "package", "soak"].map((folder) => `test/${folder}/**`),
          // No test leaves anything behind in a module, so one load of them serves every file: half the time.
          isolate: false,
          maxWorkers: 2,
          // Ends what hangs; says nothing of how long a test should take.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The quick part of `npm run soak`.
        test: {
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          isolate: false,
          maxWorkers: 2,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // The fault table: processes that are killed, waiting most of the time, so many at a time.
        test: {
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          isolate: false,
          maxWorkers: 2,
          maxConcurrency: 16,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // What is published: built, packed, installed, used.
        test: {
          name: "package",
          include: ["test/package/**/*.test.ts"],
          globalSetup: ["test/support/package-folder.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // Programs that others wrote against the server; one of them is built on first use, before its tests begin.
        test: {
          name: "client",
          include: ["test/client/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // Real `pulumi` runs against real servers: each uses several processes and waits for some of them, so one more at a time
        // than there are processors.
        test: {
          name: "lifecycle",
          include: ["test/lifecycle/**/*.test.ts"],
          globalSetup: ["test/support/compile-first.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
