// Tests of access on the result of a change. Tests of the base count even if the change removes or edits them, and tests that the change
// adds also count. A name in a test of the base means the record that had it before the change.

import { printable } from "../../schema/index.ts";
import { type AccessGraph, changedNodes, lineageOf, type NodeId, organizationsIn } from "../graph/graph.ts";
import type { Live } from "../graph/live.ts";
import { everyoneIn } from "../graph/people.ts";
import { type PolicyGraph, policyGraph } from "../policy/graph.ts";
import type { AccessTest, Policy } from "../policy/policy.ts";
import type { Mistake } from "../policy/source.ts";
import type { PolicyStack } from "../policy/stack.ts";
import type { Proposal } from "../review/proposal.ts";
import type { TestResult } from "../review/report.ts";
import { newReasons, type Reason, reasonText } from "./breaches.ts";
import type { TestSuite } from "./file.ts";
import { namesIn } from "./names.ts";
import { type Found, findReasons } from "./run-tests.ts";
import { organizationIn, organizationsNamed } from "./scene.ts";

/** The records of a policy in the state of the stack under review; undefined: names decide. */
export type StackOf = (policy: Policy) => PolicyStack | undefined;

export interface TestSides {
  /** absent: nothing is read at a base */
  base?: TestSuite;
  /** of the work tree */
  change: TestSuite;
}

/** `services`: the effects of the change at each of them, and its current records. */
export const runChangeTests = (
  { base, change }: TestSides,
  services: readonly AtService[],
  nowMs: number,
  stackOf: StackOf,
) => {
  const known = new Set(base?.tests.map(testKey));
  const added = change.tests.filter((test) => !known.has(testKey(test)));
  const all = { services, nowMs, stackOf };
  const own = runSuite({ ...change, tests: added }, ["after", "before"], all);
  const suites = [...(base ? [runSuite(base, ["before", "after"], all)] : []), own];
  return {
    results: suites.flatMap(({ ran }) => ran.map(resultOf)),
    /** the mistakes in the tests that the change adds */
    mistakes: [
      ...suites.flatMap(({ mistakes }) => mistakes),
      ...own.ran.flatMap(({ test: { name, place }, outcome }) =>
        "mistakes" in outcome ? outcome.mistakes.map((text) => ({ path: JSON.stringify(name), text, place })) : [],
      ),
    ],
  };
};

interface AtService {
  proposal: Proposal;
  live: Live;
}

/** A test as text, wherever it is: the reader of tests writes the members in one order. */
const testKey = ({ place: _, ...test }: AccessTest) => JSON.stringify(test);

interface Compared {
  /** why it fails after the change, and the reasons that the change adds; both empty: it passes */
  reasons: readonly Reason[];
  fresh: readonly Reason[];
}

type Ran = { test: AccessTest; outcome: Compared | { mistakes: string[] } };

const resultOf = ({ test: { name }, outcome }: Ran): TestResult => {
  if ("mistakes" in outcome)
    return { name, passed: false, reason: `it names what does not exist: ${outcome.mistakes.join("; ")}` };
  const { reasons, fresh } = outcome;
  if (reasons.length === 0) return { name, passed: true };
  if (fresh.length > 0) return { name, passed: false, ...reasonText(fresh) };
  return { name, passed: false, ...reasonText(reasons), failedBefore: true };
};

interface Around {
  services: readonly AtService[];
  nowMs: number;
  stackOf: StackOf;
}

/** An organization of the tests of a suite. */
interface Place {
  organization: NodeId;
  /** whether the change touches its access */
  isTouched: boolean;
  at: AtService;
  /** including people, each computed once */
  everyone: Record<Side, AccessGraph>;
  keys: PolicyGraph | undefined;
}

type Side = "before" | "after";

/** `sides`: the graph whose names come first, and the other. Runs the tests for each organization, before and after the change. */
const runSuite = (
  suite: TestSuite,
  sides: readonly [Side, Side],
  around: Around,
): { ran: Ran[]; mistakes: readonly Mistake[] } => {
  const { tests } = suite;
  if (tests.length === 0) return { ran: [], mistakes: [] };
  const found = around.services.map((at) => placesAt(suite, at, around));
  const places = found.flatMap((one) => ("places" in one ? one.places : []));
  // A policy or a file that names an organization names it at one service.
  const [mistakes = []] = found.flatMap((one) => ("mistakes" in one ? [one.mistakes] : []));
  if (places.length === 0) return { ran: [], mistakes };
  const runs = places.map((place) => runAt(tests, place, places, sides));
  const ran = tests.map((test, i) => ({ test, outcome: joined(runs.map((run) => run[i] as Found | Compared)) }));
  return { ran, mistakes: [] };
};

const runAt = (
  tests: readonly AccessTest[],
  { organization, isTouched, at, everyone, keys }: Place,
  places: readonly Place[],
  sides: readonly Side[],
): (Found | Compared)[] => {
  const { before, after, unknown } = at.proposal;
  const beside = places.filter((one) => one.at !== at || one.organization !== organization);
  const namesOf = (names: readonly Side[]) =>
    namesIn(
      names.map((side) => everyone[side]),
      organization,
      {
        keys,
        others: beside.map((one) => ({
          graphs: names.map((side) => one.everyone[side]),
          organization: one.organization,
          isOtherService: one.at !== at,
        })),
      },
    );
  const organizations = new Set(places.flatMap((one) => (one.at === at ? [one.organization] : [])));
  const scene = { organization, organizations, notVisible: at.live.notVisible };
  const notKnown = unknown.filter(({ hides }) => hides !== undefined).map(({ message }) => message);
  const is = findReasons(tests, { ...scene, graph: everyone.after, names: namesOf(sides), notKnown });
  const failing = tests.filter((_, i) => !isPassed(is[i] as Found));
  const was = before.groups.has(organization)
    ? findReasons(failing, { ...scene, graph: everyone.before, names: namesOf(["before"]) })
    : [];
  const place = places.length === 1 ? "" : `in ${printable(nameOf(after, before, organization))}: `;
  return is.map((one, i): Found | Compared => {
    // An identity of an unchanged organization may get access in another.
    const isAbout = isTouched || tests[i]?.subject.kind === "identity";
    if ("mistakes" in one) return isAbout || one.isElsewhere ? one : NOTHING;
    if (!isAbout) return NOTHING;
    const old = was[failing.indexOf(tests[i] as AccessTest)];
    const fresh = newReasons(one.reasons, old && "reasons" in old ? old.reasons : [], after);
    const placed = (reasons: readonly Reason[]) =>
      reasons.map((own) => ({
        ...own,
        text: place + own.text,
        lead: own.lead && place + own.lead,
      }));
    return { reasons: placed(one.reasons), fresh: placed(fresh) };
  });
};

const NOTHING: Compared = { reasons: [], fresh: [] };

const isPassed = (found: Found) => "reasons" in found && found.reasons.length === 0;

/** A test covers the organizations that contain the records that it names: at least one of them. */
const joined = (runs: readonly (Found | Compared)[]): Ran["outcome"] => {
  const isElsewhere = (one: Found | Compared) => "mistakes" in one && one.isElsewhere;
  const own = runs.every(isElsewhere) ? runs : runs.filter((one) => !isElsewhere(one));
  const mistakes = own.flatMap((one) => ("mistakes" in one ? one.mistakes : []));
  if (mistakes.length > 0) return { mistakes: [...new Set(mistakes)] };
  const compared = own as readonly Compared[];
  return {
    reasons: compared.flatMap(({ reasons }) => reasons),
    fresh: compared.flatMap(({ fresh }) => fresh),
  };
};

const nameOf = (after: AccessGraph, before: AccessGraph, id: NodeId) =>
  (after.groups.get(id) ?? before.groups.get(id))?.name ?? id;

/**
 * The organization that the policy or the file of tests names. It is looked up before the change, which could give its name to another.
 * Without a name: all organizations whose names a test may use, some of which the change touches.
 */
const placesAt = (
  { policy, organization: text }: TestSuite,
  at: AtService,
  { nowMs, stackOf }: Around,
): { places: Place[] } | { mistakes: Mistake[] } => {
  const { before, after } = at.proposal;
  const keys = policy && policyGraph(policy, at.live.graph, stackOf(policy));
  if (keys && keys.mistakes.length > 0) return { mistakes: keys.mistakes };
  const everyone = { before: everyoneIn(before, nowMs), after: everyoneIn(after, nowMs) };
  const place = (organization: NodeId, isTouched = true): Place => ({ organization, isTouched, at, everyone, keys });
  const isThere = (id: NodeId) => before.groups.has(id) || after.groups.has(id);
  if (keys && isThere(keys.organization)) return { places: [place(keys.organization)] };
  const name = text ?? policy?.organization.uid ?? policy?.organization.name;
  if (name !== undefined) {
    const found = organizationIn(organizationsNamed(before, name).length > 0 ? before : after, name);
    return typeof found === "string" ? { places: [place(found)] } : { mistakes: [found] };
  }
  const touched = new Set(touchedBy(at.proposal).filter(isThere));
  const all = new Set([...organizationsIn(before).map(({ id }) => id), ...touched]);
  if (all.size > 0) return { places: [...all].map((one) => place(one, touched.has(one))) };
  const none = organizationIn(after, undefined);
  return typeof none === "string" ? { places: [place(none)] } : { mistakes: [none] };
};

/** The organizations of the program's records, before and after, and those in which something differs. */
const touchedBy = ({ before, after, organizations = new Set() }: Proposal) => {
  const tops = changedNodes(before, after).flatMap(({ graph, kind, id }) => {
    const node = graph[kind].get(id) as { group?: NodeId | null } | undefined;
    return lineageOf(graph, kind === "groups" ? id : (node?.group ?? "")).at(-1) ?? [];
  });
  return [...new Set([...organizations, ...tops])];
};

/** The changes of the tests, a line for each: `- test "no pull request ever writes"`. */
export const testsDifference = ({ base, change }: TestSides): string[] => {
  const [was, is] = [base?.tests ?? [], change.tests].map(
    (tests) => new Map(tests.map((test) => [test.name, testKey(test)])),
  );
  const lines = (one: typeof was, other: typeof is, sign: string) =>
    [...(one ?? [])].flatMap(([name, text]) =>
      other?.get(name) === text ? [] : [`${sign} test ${JSON.stringify(name)}`],
    );
  return [...lines(was, is, "-"), ...lines(is, was, "+")];
};
