import { join } from "node:path";
import { defineConfig } from "vitest/config";
import Sequencer from "./test/support/sequencer.ts";

// .ci/run adds the totals up from this file.
const reportFolder = process.env.IRM_REPORT_DIR;
const json = reportFolder === undefined ? [] : [["json", { outputFile: join(reportFolder, "vitest.json") }] as const];

// Where `irm review` finds its base: in a pull request of this repository, tests would read the rules of that.
const NO_PULL_REQUEST = {
  GITHUB_BASE_REF: "",
  GITHUB_EVENT_NAME: "",
  GITHUB_EVENT_PATH: "",
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "",
  CI_MERGE_REQUEST_TARGET_BRANCH_SHA: "",
  CI_MERGE_REQUEST_DIFF_BASE_SHA: "",
};

/**
 * A project of its own folder. Those of a group run side by side, and the groups one after the other. No test leaves anything
 * behind in a module, so a process runs file after file with what it has loaded. The time-outs end what hangs; they say
 * nothing of how long a test should take.
 */
const project = (name: string, { timeout = 300_000, ...own }: ProjectOptions = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    isolate: false,
    setupFiles: ["test/support/same-environment.ts"],
    // Requests leave much garbage: with room for it the collector takes a sixth less processor time (contract and exchange tests).
    execArgv: ["--max-semi-space-size=64"],
    // More than there are processors: many wait for a package to be installed, or for time to pass. Each one more costs some processor time.
    maxWorkers: 4,
    testTimeout: timeout,
    hookTimeout: timeout,
    sequence: { groupOrder: 2 },
    env: NO_PULL_REQUEST,
    ...own,
  },
});

interface ProjectOptions {
  timeout?: number;
  isolate?: boolean;
  globalSetup?: string[];
  maxConcurrency?: number;
}

const COMMANDS = "test/support/compile-command.ts";
const SMALL_ENGINE = [COMMANDS, "test/support/compile-small-engine.ts"];

const projects = [
  // The quick part of `npm run soak`.
  project("soak", { globalSetup: SMALL_ENGINE }),
  // The fault table: processes that are killed, waiting most of the time, so many at a time.
  project("faults", { maxConcurrency: 16, globalSetup: SMALL_ENGINE }),
  // What is published: built, packed, installed, used.
  project("package", {
    isolate: true,
    globalSetup: ["test/support/package-folder.ts", "test/support/install-languages.ts"],
  }),
  // Programs that others wrote against the server; one of them is built on first use, before its tests begin.
  project("interop", { isolate: true }),
  // Real `pulumi` runs against real servers.
  project("lifecycle", {
    timeout: 600_000,
    globalSetup: [
      COMMANDS,
      "test/support/compile-engine.ts",
      "test/support/compile-plugin.ts",
      "test/support/install-languages.ts",
    ],
  }),
];

export default defineConfig({
  test: {
    reporters: ["default", ...json],
    sequence: { sequencer: Sequencer },
    projects: [
      {
        // Needs no engine: `npm run check` runs these, which are fast.
        test: {
          ...project("unit", { globalSetup: [COMMANDS] }).test,
          include: ["test/**/*.test.ts"],
          exclude: projects.map(({ test }) => `test/${test.name}/**`),
          maxWorkers: 3,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
          sequence: { groupOrder: 1 },
        },
      },
      ...projects,
    ],
  },
});
