// Reviews against updates: random organizations and programs, each reviewed, replayed and then run by a real engine on a server of its own.
// What the update has brought there, its tables say.
import { openGroup } from "./change/group.ts";
import { prepare, runGroups } from "./change/groups.ts";
import { newFigures, runStory } from "./change/story.ts";
import type { PartOptions, PartResult } from "./part.ts";

interface Options extends PartOptions {
  /** folder of the provider `irm`; absent: it is compiled, and an engine is installed */
  plugin?: string;
}

/** `rounds`: cases, dynamic resources and the plugin in turn. */
export const changes = async ({ plugin: given, ...options }: Options): Promise<PartResult> => {
  const plugin = given ?? (await prepare());
  const figures = newFigures();
  const failures = await runGroups("change", options, async (seeds) => {
    const group = await openGroup(seeds, { plugin });
    return runStory(group, figures).finally(group.close);
  });
  return { figures: { cases: options.rounds, ...figures }, failures };
};
