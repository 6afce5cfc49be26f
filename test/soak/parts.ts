// The long proofs with the numbers of their goals (docs/proof.md).
import type { PartOptions, PartResult } from "./part.ts";

export interface Part {
  goal: string;
  run(options: Omit<PartOptions, "rounds">): Promise<PartResult>;
}

// Each is loaded when it is run: telling the flags needs no server.
export const parts = {
  kill: {
    goal: "200 rounds of kill -9 under write load: nothing acknowledged is lost, nothing torn, the file whole",
    run: async (options) => (await import("./kill.ts")).kill({ ...options, rounds: 200 }),
  },
  model: {
    goal: "10,000 random operations, each answered as the oracle says",
    run: async (options) => (await import("./model.ts")).model({ ...options, rounds: 10_000 }),
  },
  walk: {
    goal: "1,000 rows in 5 sizes of a page and 6 orders while others write: no row missed, none twice",
    run: async (options) => (await import("./walk.ts")).walk({ ...options, rounds: 1_000 }),
  },
  tokens: {
    goal: "20,000 mutated tokens over every wire, none taken",
    run: async (options) => (await import("./mutated-token.ts")).mutatedTokens({ ...options, rounds: 20_000 }),
  },
  schemathesis: {
    goal: "5,000 generated requests and 200 stateful scenarios: no 5xx but 501, no schema violation, no use after free",
    run: async (options) => {
      const { installSchemathesis } = await import("./schemathesis-install.ts");
      const { command, reason } = await installSchemathesis();
      if (command === undefined) return { figures: {}, failures: [reason] };
      const { schemathesis } = await import("./schemathesis.ts");
      const phases = ["examples", "coverage", "fuzzing"] as const;
      return schemathesis({ ...options, rounds: 15, phases, requestsMin: 5_000, scenariosMin: 200, command });
    },
  },
  malformed: {
    goal: "100,000 malformed messages to every method of the server and of the plugin, each answered and both serving on",
    run: async (options) => (await import("./malformed.ts")).malformed({ ...options, rounds: 100_000 }),
  },
  access: {
    goal: "1,000 random organizations and changes: the review agrees with the server's own authorisation",
    run: async (options) => (await import("./access.ts")).access({ ...options, rounds: 1_000 }),
  },
  patterns: {
    goal: "5,000 random identities with 20,000 real exchanges, and pairs of patterns: what is said of patterns is what happens",
    run: async (options) => (await import("./pattern.ts")).patterns({ ...options, rounds: 5_000 }),
  },
  paths: {
    goal: "1,000 pairs of random organizations: requests reach nothing that the paths do not have, and each path executes",
    run: async (options) => (await import("./paths.ts")).paths({ ...options, rounds: 1_000 }),
  },
  seal: {
    goal: "1,000 updates under a seal after edits by hand: no row of access that the seal does not show, no refusal where nothing moved",
    run: async (options) => (await import("./seal.ts")).seals({ ...options, rounds: 1_000 }),
  },
  copies: {
    goal: "1,000 random organizations: every list of a copy, of its database and of its file is as in the original",
    run: async (options) => (await import("./copy.ts")).copies({ ...options, rounds: 1_000 }),
  },
  changes: {
    goal: "1,000 random organizations: random writes, recorded and carried out again, give the same records and the same access",
    run: async (options) => (await import("./change.ts")).changes({ ...options, rounds: 1_000 }),
  },
  exports: {
    goal: "1,000 random organizations: an export adopts all without a write, and creates the same on a fresh service",
    run: async (options) => (await import("./export.ts")).exports({ ...options, rounds: 1_000 }),
  },
  "exports-engine": {
    goal: "12 random organizations: the same by a real engine, in TypeScript, Python, YAML and as a policy",
    run: async (options) => (await import("./export-engine.ts")).exportsByEngine({ ...options, rounds: 12 }),
  },
  "unchecked-engine": {
    goal: "12 killed runs without checkpoints by a real engine, in both forms: what follows leaves what the program declares",
    run: async (options) => (await import("./killed-engine.ts")).uncheckedByEngine({ ...options, rounds: 12 }),
  },
  "lost-machine-engine": {
    goal: "12 runs killed with all that their machine had, by a real engine: what is live then is what the program declares",
    run: async (options) => (await import("./killed-engine.ts")).lostByEngine({ ...options, rounds: 12 }),
  },
  forms: {
    goal: "the tests of each form, language and kind that npm test leaves out, and the others of their files",
    run: async (options) => (await import("./forms.ts")).forms(options),
  },
  go: {
    goal: "the module for Go compiles, and programs in Go pass the tests of each language with a real engine",
    run: async (options) => (await import("./go.ts")).go(options),
  },
} satisfies Record<string, Part>;

export type PartName = keyof typeof parts;
