// Runs tests of access on a graph: a policy alone, the live organization, or what it is after a change. What is not known or not visible
// never lets a test pass that says who must not.

import { accessIn } from "../graph/effective-access.ts";
import type { NodeId } from "../graph/graph.ts";
import { newReviewBudget } from "../pattern/budget.ts";
import type { AccessTest } from "../policy/policy.ts";
import type { FindingList } from "../review/report.ts";
import { actorOf, findAssumable, othersThan } from "./actor.ts";
import { everFinder } from "./ever.ts";
import { breachFinder, findUnseen, missingOf } from "./look.ts";
import { NameError, type Names } from "./names.ts";
import { type Reason, reasonText } from "./reason.ts";
import type { Actor, Look, Scene } from "./scene.ts";

export type Outcome =
  | { passed: true }
  | { passed: false; reason: string; list?: FindingList }
  /** it names what does not exist, so it says nothing about access */
  | { mistakes: string[] };

export type Found =
  /** why the test fails; empty: it passes */
  { reasons: readonly Reason[] } | Misnamed;

interface Misnamed {
  mistakes: string[];
  /** another organization of the scene has what it names */
  isElsewhere?: true;
}

export const runTests = (tests: readonly AccessTest[], scene: Scene): Outcome[] =>
  findReasons(tests, scene).map((found) => {
    if ("mistakes" in found) return { mistakes: found.mistakes };
    const { reasons } = found;
    return reasons.length === 0 ? { passed: true } : { passed: false, ...reasonText(reasons) };
  });

/** What each test finds. */
export const findReasons = (tests: readonly AccessTest[], scene: Scene): Found[] => {
  const access = accessIn(scene.graph);
  const own = new Set([scene.organization]);
  return tests.map((test): Found => {
    // What an identity holds in another organization is its access, too.
    const organizations = test.subject.kind === "identity" ? (scene.organizations ?? own) : own;
    return find(test, { ...scene, organizations, access, budget: newReviewBudget() });
  });
};

const find = (test: AccessTest, look: Look): Found => {
  const named = resolve(test, look.names);
  if ("mistakes" in named) return named;
  const { actors, words } = aboutWhom(test, named, look);
  const { subject } = test;
  const ever = test.ever
    ? everFinder(look, actors, subject.kind === "workload" ? subject.relationship : undefined)
    : undefined;
  const denials = named.denials.flatMap(({ capabilities, place }) => [
    ...actors.flatMap(breachFinder(look, capabilities, place)),
    ...(ever?.find(capabilities, place) ?? []),
    ...findUnseen(look, place, test.subject.kind === "holders"),
  ]);
  return { reasons: [...denials, ...missingOf(look, { actors, words }, test.can, named.place)] };
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
  const look = <T>(find: (text: string) => T, text: string | undefined): T | undefined => {
    try {
      return text === undefined ? undefined : find(text);
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      mistakes.push(error.message);
      isElsewhere &&= error.isElsewhere;
      return undefined;
    }
  };
  const place = look(names.group, at);
  const denials =
    subject.kind === "holders"
      ? [{ capabilities: subject.capabilities, place }]
      : cannot.map((one) => ({ capabilities: one.capabilities, place: look(names.group, one.at) }));
  const named = {
    place,
    identity: subject.kind === "identity" ? look(names.identity, subject.name) : undefined,
    only: subject.kind === "holders" ? subject.only.flatMap((one) => look(names.allowed, one) ?? []) : [],
    denials,
  };
  return mistakes.length > 0 ? { mistakes: [...new Set(mistakes)], ...(isElsewhere && { isElsewhere }) } : named;
};

const aboutWhom = ({ subject }: AccessTest, named: Named, look: Look): { actors: Actor[]; words: string } => {
  if (subject.kind === "identity")
    return {
      actors: named.identity === undefined ? [] : [actorOf(look, named.identity, subject.name)],
      words: subject.name,
    };
  if (subject.kind === "holders") return { actors: othersThan(look, new Set(named.only)), words: "" };
  return { actors: findAssumable(look, subject.relationship), words: `a workload of ${subject.text}` };
};
