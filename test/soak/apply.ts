// Applies of reviewed changes: random organizations and programs, edits by hand between review and apply, runs that are killed, disturbed and run
// again, and programs that misbehave. What an apply has brought, the tables of the server say.
import { writeFileSync } from "node:fs";
import { temporaryFolder } from "../support/command.ts";
import { createRandom } from "../support/random.ts";
import { newCounts, runStory } from "./apply/story.ts";
import { sourceWithTricks } from "./apply/trick.ts";
import { openGroup } from "./change/group.ts";
import { prepare, runGroups } from "./change/groups.ts";
import type { PartOptions, PartResult } from "./part.ts";

/** `rounds`: cases. */
export const applies = async (options: PartOptions): Promise<PartResult> => {
  const plugin = await prepare();
  const counts = newCounts();
  const folder = temporaryFolder();
  const faults = folder.path("faults.yaml");
  writeFileSync(faults, "rules: []\n");
  const given = {
    plugin,
    server: ["--faults", faults],
    mayBeInPart: false,
    // A change has no such writes (docs/apply.md#limits).
    mayWait: false,
    sourceOf: sourceWithTricks,
  };
  const failures = await runGroups({
    ...{ ...options, part: "apply" },
    run: async (seeds) => {
      // Processes of its own double the processor time.
      const ownProcess = createRandom(-(seeds[0] as number)).below(3) === 0;
      const group = await openGroup(seeds, { ...given, ownProcess });
      return runStory(group, counts).finally(group.close);
    },
  }).finally(folder.remove);
  return {
    figures: {
      "cases, dynamic resources and the plugin in turn": options.rounds,
      "changes that were applied": counts.applies,
      "organizations that changed in what matters": counts.relevant,
      "of these, a reason why nothing was applied": counts.stopped,
      "organizations that changed in something else": counts.untouched,
      "programs that a group goes on without": counts.withdrawn,
      "programs without a review that goes through": counts.unreviewed,
      "applies with lost answers": counts.lost,
      "applies that were throttled": counts.throttled,
      "applies that were killed": counts.killed,
      "applies beside each other": counts.twice,
      "applies of programs that misbehave": counts.misbehaves,
      "of these, refused": counts.caught,
      "applies that were run again": counts.again,
      "programs that were applied as reviewed": counts.whole,
      "rows of access of identities": counts.rows,
      "rows of access of people": counts.people,
      "rows that the review does not show, or shows wrongly": counts.beyond,
      "refusals where nothing relevant moved": counts.wrongly,
      differences: failures.length,
    },
    failures,
  };
};
