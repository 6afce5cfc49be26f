// Reviews against updates: random organizations and programs, each reviewed, replayed and then run by a real engine on a server of its own.
// What the update has brought there, its tables say.
import { openGroup } from "./change/group.ts";
import { prepare, runGroups } from "./change/groups.ts";
import { newCounts, runStory } from "./change/story.ts";
import type { PartOptions, PartResult } from "./part.ts";

interface Options extends PartOptions {
  /** folder of the provider `irm`; absent: it is compiled, and an engine is installed */
  plugin?: string;
}

/** `rounds`: cases. */
export const changes = async ({ plugin: given, ...options }: Options): Promise<PartResult> => {
  const plugin = given ?? (await prepare());
  const counts = newCounts();
  const failures = await runGroups({
    ...{ ...options, part: "change" },
    run: async (seeds) => {
      const group = await openGroup(seeds, { plugin });
      return runStory(group, counts).finally(group.close);
    },
  });
  return {
    figures: {
      "cases, dynamic resources and the plugin in turn": options.rounds,
      reviews: counts.reviews,
      "reviews of a case by one who sees a part": counts.inPart,
      "updates of a case that went through, as reviewed": counts.updates,
      "updates of a case that fail, as reviewed": counts.failing,
      "updates of a case whose program the engine ended": counts.ended,
      "programs that neither a review nor an update takes": counts.refused,
      "programs that a group goes on without": counts.withdrawn,
      "writes of the changes": counts.writes,
      "changes that were replayed": counts.replays,
      "rows of access of identities": counts.rows,
      "rows of access of people": counts.people,
      "reviews of an unchanged case, without a write": counts.unchanged,
      differences: failures.length,
    },
    failures,
  };
};
