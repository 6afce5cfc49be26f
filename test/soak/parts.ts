// The long proofs with the numbers of their goals (docs/internals/proof.md).
import type { PartOptions, PartResult } from "./part.ts";

export interface Part {
  goal: string;
  /** `rounds` in place of those of the goal */
  run(options: Omit<PartOptions, "rounds"> & { rounds?: number }): Promise<PartResult>;
}

// Each is loaded when it is run: telling the flags needs no server.
export const parts = {
  kill: {
    goal: "200 rounds of kill -9 under write load: nothing acknowledged is lost, nothing torn, the file whole",
    run: async (options) => (await import("./kill.ts")).kill({ rounds: 200, ...options }),
  },
  model: {
    goal: "10,000 random operations, each answered as the oracle says",
    run: async (options) => (await import("./model.ts")).model({ rounds: 10_000, ...options }),
  },
  tokens: {
    goal: "20,000 mutated tokens over every wire, none taken",
    run: async (options) => (await import("./mutated-token.ts")).mutatedTokens({ rounds: 20_000, ...options }),
  },
  schemathesis: {
    goal: "5,000 generated requests and 200 stateful scenarios: no 5xx but 501, no schema violation, no use after free",
    run: async (options) => {
      const phases = ["examples", "coverage", "fuzzing"] as const;
      const goal = { rounds: 15, phases, requestsMin: 5_000, scenariosMin: 200 };
      return (await import("./schemathesis.ts")).schemathesis({ ...goal, ...options });
    },
  },
  malformed: {
    goal: "100,000 malformed messages to every method of the server and of the plugin, each answered and both serving on",
    run: async (options) => (await import("./malformed.ts")).malformed({ rounds: 100_000, ...options }),
  },
  access: {
    goal: "1,000 random organizations and changes: the review agrees with the server's own authorisation",
    run: async (options) => (await import("./access.ts")).access({ rounds: 1_000, ...options }),
  },
  patterns: {
    goal: "5,000 random identities with 20,000 real exchanges, and pairs of patterns: what is said of patterns is what happens",
    run: async (options) => (await import("./pattern.ts")).patterns({ rounds: 5_000, ...options }),
  },
  paths: {
    goal: "1,000 pairs of random organizations: requests reach nothing that the paths do not have, and each path executes",
    run: async (options) => (await import("./paths.ts")).paths({ rounds: 1_000, ...options }),
  },
  copies: {
    goal: "1,000 random organizations: every list of a copy, of its database and of its file is as in the original",
    run: async (options) => (await import("./copy.ts")).copies({ rounds: 1_000, ...options }),
  },
  change: {
    goal: "1,000 random organizations and programs: the rows of a review are those that the update brings; writes that are replayed give the same",
    run: async ({ rounds = 1_000, ...options }) => {
      const [{ changes }, { replays }] = [await import("./change.ts"), await import("./replay.ts")];
      const [run, replayed] = [await changes({ rounds, ...options }), await replays({ rounds, ...options })];
      return {
        figures: { ...run.figures, ...replayed.figures },
        failures: [...run.failures, ...replayed.failures],
      };
    },
  },
  apply: {
    goal: "1,000 cases of edits by hand, kills, lost answers and programs that misbehave: an apply brings the rows of the review, and no others",
    run: async (options) => (await import("./apply.ts")).applies({ rounds: 1_000, ...options }),
  },
  exports: {
    goal: "1,000 random organizations: an export adopts all without a write, and creates the same on a fresh service",
    run: async (options) => (await import("./export.ts")).exports({ rounds: 1_000, ...options }),
  },
  "unchecked-engine": {
    goal: "12 killed runs without checkpoints by a real engine, in both forms: what follows leaves what the program declares",
    run: async (options) => (await import("./killed-engine.ts")).killedRuns("checkpoints", { rounds: 12, ...options }),
  },
  "lost-machine-engine": {
    goal: "12 runs killed with all that their machine had, by a real engine: what is live then is what the program declares",
    run: async (options) => (await import("./killed-engine.ts")).killedRuns("machine", { rounds: 12, ...options }),
  },
  forms: {
    goal: "the tests of each form, language and kind that npm test leaves out, and the others of their files",
    run: async (options) => (await import("./vitest.ts")).forms(options),
  },
  go: {
    goal: "the module for Go compiles, and programs in Go pass the tests of each language with a real engine",
    run: async (options) => (await import("./vitest.ts")).go(options),
  },
  "go-examples": {
    goal: "the programs in Go of the pages of resources compile",
    run: async () => (await import("./vitest.ts")).goExamples(),
  },
  "package-managers": {
    goal: "a project that pnpm, Bun or Yarn installs is created, refreshed, updated and destroyed by a real engine, in both forms",
    run: async (options) => (await import("./package-managers.ts")).packageManagers(options),
  },
} satisfies Record<string, Part>;

export type PartName = keyof typeof parts;
