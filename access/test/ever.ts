// The access that an actor of a test could reach by paths (docs/paths.md), for a test with `ever`. An open invite is left out: its people
// are separate actors.

import type { Json } from "../../schema/index.ts";
import { matchesCapability } from "../capability.ts";
import { type NodeId, pathOf } from "../graph/graph.ts";
import type { Search } from "../paths/cautious.ts";
import { reach } from "../paths/find.ts";
import type { Held } from "../paths/reached.ts";
import { type Start, startOfIdentity, startsOfWorkload } from "../paths/start.ts";
import { worldOf } from "../paths/world.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import { shortList } from "../text.ts";
import { counts, type Reason } from "./breaches.ts";
import type { Actor, TestContext } from "./scene.ts";

/** Maximum steps of the searches of a test: a few seconds. */
const STEPS = 3_000_000;

/** `relationship`: of the workload in the test; without one, each actor starts by itself. */
export const everFinder = (context: TestContext, actors: readonly Actor[], relationship?: Json) => {
  const { graph, notVisible } = context;
  const world = worldOf(graph, notVisible);
  const options = { audience: "", others: relationship !== undefined, budget: newReviewBudget() };
  const search: Search = { audience: "", nowMs: 0, invites: false, budget: { steps: STEPS } };
  const starts: { who: string; words: string; start: Start }[] =
    relationship === undefined
      ? actors.flatMap(({ identity, words }) => {
          const node = graph.identities.get(identity);
          return node ? [{ who: identity, words, start: startOfIdentity(world, node, options) }] : [];
        })
      : startsOfWorkload(world, relationship, options).map((start) => ({ ...THE_WORKLOAD, start }));
  const reached = starts.map(({ who, words, start }) => ({
    ...{ who, words },
    held: reach(world, start, search).filter(({ requests }) =>
      requests.some(({ operation }) => operation !== "ExchangeGet"),
    ),
  }));
  const isComplete = search.budget.steps >= 0;
  return {
    /** The reachable ones of these capabilities at the place; the first of each title leads there. */
    find: (capabilities: readonly string[], place: NodeId | undefined): Reason[] => {
      const isHere = counts(context, place);
      const found = reached.flatMap(({ who, words, held }) =>
        held.flatMap((one): Reason[] => {
          const names = isHere(one.group) ? namesIn(one, capabilities) : [];
          const about = { who: `path of ${who}`, group: one.group, capabilities: names };
          return names.length === 0 ? [] : [{ text: failureText(context, words, one, names), about, title: words }];
        }),
      );
      return isComplete ? found : [...found, { text: "not searched: the search for paths took too many steps" }];
    },
  };
};

const THE_WORKLOAD = { who: "the workload", words: "the workload" };

const namesIn = ({ capabilities }: Held, denied: readonly string[]): string[] =>
  [...capabilities].filter((one) => denied.some((text) => matchesCapability(text, one))).sort();

const NAMES_SHOWN = 5;

const failureText = ({ graph }: TestContext, words: string, held: Held, names: readonly string[]) => {
  const list = shortList(names, NAMES_SHOWN);
  const way = held.requests.map(({ why }) => why).join("; ");
  return `${words} could come to hold ${list} at ${pathOf(graph, held.group)} (${held.assumes}): ${way}`;
};
