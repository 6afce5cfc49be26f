// The long proofs with the numbers of their goals (issue 4, section 5; spec/faults.md, sections 1, 2.1 and 5).
import { kill } from "./kill.ts";
import { model } from "./model.ts";
import { mutatedTokens } from "./mutated-token.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { schemathesis } from "./schemathesis.ts";
import { installSchemathesis } from "./schemathesis-install.ts";
import { walk } from "./walk.ts";

export interface Part {
  goal: string;
  run(options: Omit<PartOptions, "rounds">): Promise<PartResult>;
}

export const parts = {
  kill: {
    goal: "200 rounds of kill -9 under write load: nothing acknowledged is lost, nothing torn, the file whole",
    run: (options) => kill({ ...options, rounds: 200 }),
  },
  model: {
    goal: "10,000 random operations, each answered as the oracle says",
    run: (options) => model({ ...options, rounds: 10_000 }),
  },
  walk: {
    goal: "1,000 rows in 5 sizes of a page and 6 orders while others write: no row missed, none twice",
    run: (options) => walk({ ...options, rounds: 1_000 }),
  },
  tokens: {
    goal: "20,000 mutated tokens over every wire, none taken",
    run: (options) => mutatedTokens({ ...options, rounds: 20_000 }),
  },
  schemathesis: {
    goal: "5,000 generated requests and 200 stateful scenarios: no 5xx but 501, no schema violation, no use after free",
    run: async (options) => {
      const { command, reason } = await installSchemathesis();
      if (command === undefined) return { figures: {}, failures: [reason] };
      const phases = ["examples", "coverage", "fuzzing"] as const;
      const size = { rounds: 15, requestsMin: 5_000, scenariosMin: 200 };
      return schemathesis({ ...options, ...size, command, phases });
    },
  },
} satisfies Record<string, Part>;

export type PartName = keyof typeof parts;
