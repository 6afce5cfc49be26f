// Runs tests of access on a graph: of a policy without a service, of the live organization, or of the result of a change. Unknown or
// invisible access never lets a test pass that names who must not.

import { type Json, printable } from "../../schema/index.ts";
import { matchesCapability } from "../capability.ts";
import { accessIn } from "../graph/effective-access.ts";
import { type NodeId, pathOf } from "../graph/graph.ts";
import { isPeople } from "../graph/people.ts";
import type { Search } from "../paths/cautious.ts";
import { reach } from "../paths/find.ts";
import type { Held } from "../paths/reached.ts";
import { type Start, startOfIdentity, startsOfWorkload } from "../paths/start.ts";
import { worldOf } from "../paths/world.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import type { AccessTest } from "../policy/policy.ts";
import type { FindingList } from "../review/report.ts";
import { shortList } from "../text.ts";
import { canBeAssumedBy, workloadsOf } from "../workload/workload.ts";
import { breachFinder, counts, findUnseen, missingOf, type Reason, reasonText } from "./breaches.ts";
import { NameError, type Names, pathOfIdentity } from "./names.ts";
import type { Actor, Scene, TestContext } from "./scene.ts";

export type Outcome =
  | { passed: true }
  | { passed: false; reason: string; list?: FindingList }
  /** it names records that do not exist, so it proves nothing about access */
  | { mistakes: string[] };

export type Found =
  /** why the test fails; empty: it passes */
  { reasons: readonly Reason[] } | Misnamed;

interface Misnamed {
  mistakes: string[];
  /** another organization of the scene contains the named record */
  isElsewhere: boolean;
}

export const runTests = (tests: readonly AccessTest[], scene: Scene): Outcome[] =>
  findReasons(tests, scene).map((found) => {
    if ("mistakes" in found) return { mistakes: found.mistakes };
    const { reasons } = found;
    return reasons.length === 0 ? { passed: true } : { passed: false, ...reasonText(reasons) };
  });

/** The findings of each test. */
export const findReasons = (tests: readonly AccessTest[], scene: Scene): Found[] => {
  const access = accessIn(scene.graph);
  const own = new Set([scene.organization]);
  return tests.map((test): Found => {
    // Access of an identity in another organization also counts.
    const organizations = test.subject.kind === "identity" ? (scene.organizations ?? own) : own;
    return find(test, { ...scene, organizations, access, budget: newReviewBudget() });
  });
};

const find = (test: AccessTest, context: TestContext): Found => {
  const named = resolve(test, context.names);
  if ("mistakes" in named) return named;
  const { actors, words } = aboutWhom(test, named, context);
  const { subject } = test;
  const ever = test.ever
    ? everFinder(context, actors, subject.kind === "workload" ? subject.relationship : undefined)
    : undefined;
  const denials = named.denials.flatMap(({ capabilities, place }) => [
    ...actors.flatMap(breachFinder(context, capabilities, place)),
    ...(ever?.find(capabilities, place) ?? []),
    ...findUnseen(context, place, test.subject.kind === "holders"),
  ]);
  return { reasons: [...denials, ...missingOf(context, { actors, words }, test.can, named.place)] };
};

interface Named {
  place: NodeId | undefined;
  identity: NodeId | undefined;
  only: readonly NodeId[];
  denials: readonly { capabilities: readonly string[]; place: NodeId | undefined }[];
}

const resolve = ({ subject, at, cannot }: AccessTest, names: Names): Named | Misnamed => {
  const mistakes: string[] = [];
  let isElsewhere = true;
  const lookUp = <T>(find: (text: string) => T, text: string | undefined): T | undefined => {
    try {
      return text === undefined ? undefined : find(text);
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      mistakes.push(error.message);
      isElsewhere &&= error.isElsewhere;
      return undefined;
    }
  };
  const place = lookUp(names.group, at);
  const denials =
    subject.kind === "holders"
      ? [{ capabilities: subject.capabilities, place }]
      : cannot.map((one) => ({ capabilities: one.capabilities, place: lookUp(names.group, one.at) }));
  const named = {
    place,
    identity: subject.kind === "identity" ? lookUp(names.identity, subject.name) : undefined,
    only: subject.kind === "holders" ? subject.only.flatMap((one) => lookUp(names.allowed, one) ?? []) : [],
    denials,
  };
  return mistakes.length > 0 ? { mistakes: [...new Set(mistakes)], isElsewhere } : named;
};

const aboutWhom = ({ subject }: AccessTest, named: Named, context: TestContext): { actors: Actor[]; words: string } => {
  if (subject.kind === "identity")
    return {
      actors: named.identity === undefined ? [] : [actorOf(context, named.identity, subject.name)],
      words: subject.name,
    };
  if (subject.kind === "holders") {
    const allowed = new Set(named.only);
    const others = holdersIn(context).filter((id) => !allowed.has(id));
    return { actors: others.map((id) => actorOf(context, id)), words: "" };
  }
  return { actors: findAssumable(context, subject.relationship), words: `a workload of ${subject.text}` };
};

// The actors of a test: one identity, all but some, or those that a workload can assume.

/** `otherwise`: its name in a test, if the change deletes it. */
const actorOf = (context: TestContext, identity: NodeId, otherwise = identity) => ({
  identity,
  words: nameOf(context, identity, otherwise),
  isCertain: true,
});

const nameOf = ({ graph }: TestContext, id: NodeId, otherwise: string) => {
  const one = graph.identities.get(id);
  if (one === undefined) return printable(otherwise);
  return printable(isPeople(one) ? one.name : pathOfIdentity(graph, one.group, one.name));
};

const findAssumable = (context: TestContext, relationship: Json): Actor[] => {
  const workloads = workloadsOf(relationship);
  return holdersIn(context).flatMap((id): Actor[] => {
    const identity = context.graph.identities.get(id);
    // A person signs in, so a workload never matches.
    if (identity && isPeople(identity)) return [];
    const trusted = identity?.relationship ?? null;
    const answer = canBeAssumedBy(trusted, workloads, context.budget);
    if (answer.is === "no") return [];
    const name = nameOf(context, id, id);
    if (answer.is === "yes") {
      const { sub = Object.values(answer.example)[0] ?? "" } = answer.example;
      return [{ identity: id, words: `${name}, which ${printable(sub)} can assume,`, isCertain: true }];
    }
    return [{ identity: id, words: `${name}, which it can perhaps assume,`, isCertain: false }];
  });
};

const holdersIn = ({ graph }: TestContext) =>
  [...new Set(Array.from(graph.bindings.values(), ({ identity }) => identity))].sort();

// The access that an actor of a test could reach by paths (docs/access.md#paths), for a test with `ever`. An open invite is left out: its people
// are separate actors.

/** Maximum steps of the searches of a test: a few seconds. */
const STEPS = 3_000_000;

/** `relationship`: of the workload in the test; without one, each actor starts by itself. */
const everFinder = (context: TestContext, actors: readonly Actor[], relationship?: Json) => {
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

const namesIn = ({ capabilities }: Held, denied: readonly string[]) =>
  [...capabilities].filter((one) => denied.some((text) => matchesCapability(text, one))).sort();

const NAMES_SHOWN = 5;

const failureText = ({ graph }: TestContext, words: string, held: Held, names: readonly string[]) => {
  const list = shortList(names, NAMES_SHOWN);
  const way = held.requests.map(({ why }) => why).join("; ");
  return `${words} could come to hold ${list} at ${pathOf(graph, held.group)} (${held.assumes}): ${way}`;
};
