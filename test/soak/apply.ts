// Applies of reviewed changes: random organizations and programs, edits by hand between review and apply, runs that are killed, disturbed and run
// again, and programs that misbehave. What an apply has brought, the tables of the server say.
import { temporaryFolder } from "../support/command.ts";
import { createRandom } from "../support/random.ts";
import { newFigures, runStory } from "./apply/story.ts";
import { sourceWithTricks } from "./apply/trick.ts";
import { openGroup } from "./change/group.ts";
import { prepare, runGroups } from "./change/groups.ts";
import type { PartOptions, PartResult } from "./part.ts";

/** `rounds`: cases, dynamic resources and the plugin in turn. */
export const applies = async (options: PartOptions): Promise<PartResult> => {
  const plugin = await prepare();
  const figures = newFigures();
  const folder = temporaryFolder();
  const given = {
    plugin,
    server: ["--faults", folder.write("faults.yaml", "rules: []\n")],
    mayBeInPart: false,
    // A change has no such writes (docs/apply.md#limits).
    mayWait: false,
    sourceOf: sourceWithTricks,
  };
  const failures = await runGroups("apply", options, async (seeds) => {
    // Processes of its own double the processor time.
    const ownProcess = createRandom(-(seeds[0] as number)).below(3) === 0;
    const group = await openGroup(seeds, { ...given, ownProcess });
    return runStory(group, figures).finally(group.close);
  }).finally(folder.remove);
  return { figures: { cases: options.rounds, ...figures }, failures };
};
