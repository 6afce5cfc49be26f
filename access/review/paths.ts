// Paths to more access that a change opens and closes, as a report shows them.
import { type AccessGraph, groupNameOf, nameOf } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import { type PathChange, pathChange, targetsIn } from "../paths/find.ts";
import type { Path } from "../paths/path.ts";
import type { UnknownPart } from "./proposal.ts";
import type { PathReview } from "./report.ts";
import type { RuleInput } from "./rule.ts";

interface PathsOptions {
  notVisible: readonly NotVisible[];
  /** address of the API */
  service: string;
  nowMs: number;
}

const NONE: PathChange = { opens: [], closes: [], notSearched: [] };

/** Where neither access nor who can assume an identity changes, no path does. */
export const pathsOf = (
  { before, after, changes, reassumed, replacements }: Omit<RuleInput, "opened">,
  peopleChanges: readonly unknown[],
  { notVisible, service, nowMs }: PathsOptions,
): PathChange =>
  changes.length + reassumed.length + replacements.length + peopleChanges.length === 0
    ? NONE
    : pathChange(before, after, { notVisible, audience: service, nowMs });

export const pathRows = (graph: AccessGraph, paths: readonly Path[]): PathReview[] => {
  const aboutOf = targetsIn(graph);
  return paths.map(({ from, gains, assumes, steps, assumptions }) => {
    const id = "identity" in from ? from.identity : "";
    const { uid = id, name = id } = graph.identities.get(id) ?? {};
    return {
      from: { identity: uid, name },
      gains: gains.map(({ capability, group }) => {
        const node = graph.groups.get(group);
        return { capability, group: node ? node.uid : group, groupName: groupNameOf(graph, group) };
      }),
      assumes,
      steps: steps.map((step) => ({
        ...step,
        name: nameOf(graph.identities, step.as),
        about: aboutOf(step.path, step.method),
      })),
      assumptions: [...assumptions],
    };
  });
};

/** What was not searched may hide any path. */
export const notSearchedParts = ({ notSearched }: PathChange): UnknownPart[] =>
  notSearched.map((message) => ({ subject: "", message, hides: { of: "paths" } }));
