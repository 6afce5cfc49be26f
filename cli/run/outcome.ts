// The meaning of the steps of a run: the failed ones, the capabilities that they lack, and the changes that did not run.
import { type AccessGraph, groupNameOf } from "../../access/graph/graph.ts";
import type { RunReport, Step } from "../../access/review/report.ts";
import type { NotRun } from "../../access/run/not-run.ts";
import { joinWithAnd } from "../../access/text.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { ourTypeOf, partsOfUrn } from "../../pulumi/urn.ts";
import { ancestorsOf, getOrInsert } from "../../schema/index.ts";
import type { Twin } from "../twin/twin.ts";
import { NOT_RUN } from "./others/guard.ts";
import { isOther } from "./others/judge.ts";
import { type RunStep, UNCHANGED } from "./up.ts";

export interface OutcomeInput {
  /** of the original, before the run */
  preview: Preview;
  steps: readonly RunStep[];
  settled: ReadonlySet<string>;
  errors: readonly string[];
  /** URNs of resources of other providers that the run leaves as they are: those that would change, and those that are read */
  leftOut: readonly string[];
  twins: readonly Twin[];
  /** access before the run */
  before: AccessGraph;
}

type Outcome = Pick<RunReport, "steps" | "errors" | "others"> & { notRun: NotRun[] };

export const outcomeOf = (input: OutcomeInput): Outcome => {
  const { preview, steps: ran, errors, leftOut } = input;
  const planned = preview.steps.filter(({ op }) => !UNCHANGED.includes(op));
  const unknownReads = preview.steps.filter(({ urn, op }) => op === "read" && leftOut.includes(urn));
  const others = [
    ...ran.filter(isOther),
    ...[...planned, ...unknownReads].filter((one) => isOther(one) && !ran.some(({ urn }) => urn === one.urn)),
  ].map(({ urn, op }) => ({ urn, op }));
  const ours = ran.filter(({ urn }) => ourTypeOf(urn) !== undefined);
  const failed = new Set(ours.flatMap(({ urn, ok }) => (ok ? [] : [urn])));
  const changedByOthers = new Map(others.map(({ urn, op }) => [urn, op]));
  const needs = dependenciesIn(preview);
  const neededBy = inverted(needs);
  // The engine deletes the dependents of a resource before it.
  const edgesFor = (op: string) => (op.includes("delete") ? neededBy : needs);
  const otherFor = (urn: string, op: string) => reachedFrom(urn, edgesFor(op), changedByOthers.keys())[0];
  const notReached = planned.filter(
    ({ urn, op }) =>
      ourTypeOf(urn) !== undefined &&
      op !== SHOWN_AS_THREE &&
      !isReached(urn, op, input, otherFor(urn, op) !== undefined),
  );
  const notRun: NotRun[] = [];
  const steps: Step[] = [];
  const waiting: string[] = [];
  const waitingForOther: string[] = [];
  const waitsFor = (other: string) =>
    `it waits for ${nameOf(other)}, which another provider ${changedByOthers.get(other) === "read" ? "reads" : "changes"}`;
  for (const step of ours) {
    const { urn, op } = step;
    // A version of the SDK may send it all the same, with empty values in place of those that are not known.
    const other = op.includes("delete") || op === "refresh" ? undefined : otherFor(urn, op);
    if (other === undefined) steps.push({ ...step, ...missingIn(step.error, input) });
    else {
      notRun.push({ urn, op, why: waitsFor(other) });
      waitingForOther.push(urn);
    }
  }
  for (const { urn, op } of notReached) {
    const other = otherFor(urn, op);
    const causes = reachedFrom(urn, edgesFor(op), failed);
    if (other !== undefined) {
      notRun.push({ urn, op, why: waitsFor(other) });
      waitingForOther.push(urn);
    } else {
      const names = (causes.length > 0 ? causes : [...failed]).map(nameOf);
      const error = names.length > 0 ? notRunText(names) : undeclaredText(op, errors);
      steps.push({ urn, op, ok: false, error });
    }
    if (causes.length > 0) waiting.push(urn);
  }
  const own = errors.filter(
    (text) =>
      !isOfStep(text, ran) &&
      !isOfUnknownValue(text, waiting, waitingForOther) &&
      // An engine that ends while a provider still checks a resource blames that resource. The reason is an error of its own.
      !text.endsWith(" has a problem: grpc: the client connection is closing"),
  );
  return { steps, errors: own, notRun, others };
};

/**
 * Whether the engine came to a step. It also settles a resource whose step turns out to change nothing, and a resource that it skips because of
 * another provider.
 */
const isReached = (urn: string, op: string, { steps, settled }: OutcomeInput, mayBeSkipped: boolean) => {
  const own = steps.filter((one) => one.urn === urn && one.op !== "refresh");
  // The engine also settles a resource that it keeps.
  if (op === "delete") return own.length > 0;
  if (op !== "delete-replaced") return (settled.has(urn) && !mayBeSkipped) || own.length > 0;
  return own.some((one) => one.op === op) || !own.some((one) => one.op === "create-replacement" && one.ok);
};

/** The SDK of the program repeats the failure of each step, and the stand-in refuses the changes of other providers. */
const isOfStep = (text: string, ran: readonly RunStep[]) => {
  const [, name, type] = /resource (.+) \[([^\]]+)\] failed to register/.exec(text) ?? [];
  const isFailed = ran.some(({ urn, ok }) => !ok && partsOfUrn(urn).name === name && partsOfUrn(urn).type === type);
  return isFailed || text.includes(NOT_RUN);
};

/**
 * Some versions of the SDK send the dependents of a failed step all the same. The engine then has the provider check them with unknown values,
 * which nobody can correct. After a refused read, each value is empty.
 */
const isOfUnknownValue = (text: string, waiting: readonly string[], waitingForOther: readonly string[]) => {
  const [, type, name, value = ""] =
    /^(\S+) resource '(.+?)': property \S+ value (.*) has a problem: /s.exec(text) ?? [];
  const urns = /output<.*?>\{\}/s.test(value) ? [...waiting, ...waitingForOther] : waitingForOther;
  return urns.some((urn) => partsOfUrn(urn).name === name && partsOfUrn(urn).type === type);
};

const FAILED_SHOWN = 5;

const notRunText = (failed: readonly string[]) => {
  const names = failed.slice(0, FAILED_SHOWN);
  const rest = failed.length - names.length;
  return `it did not run, since ${joinWithAnd(rest > 0 ? [...names, `${rest} more`] : names)} failed`;
};

/** An error may have ended the program before. */
const undeclaredText = (op: string, errors: readonly string[]) => {
  if (errors.length > 0) return "it did not run";
  return `it did not run: in its update, the program ${op.includes("delete") ? "still declares it" : "does not declare it"}`;
};

/** The engine shows a replacement as three steps: this one, and the two that carry it out. */
const SHOWN_AS_THREE = "replace";

const nameOf = (urn: string) => partsOfUrn(urn).name;

const NEEDS = /needs ((?:[\w.-]+, )*[\w.-]+) at ([0-9a-f]{40}(?:\/[0-9a-f]{16})*)/;

const missingIn = (error: string | undefined, { twins, before }: OutcomeInput): Pick<Step, "missing"> => {
  const [, capabilities, uid] = NEEDS.exec(error ?? "") ?? [];
  if (capabilities === undefined || uid === undefined) return {};
  const groups = new Set(twins.flatMap(({ copy }) => (copy.records.groups ?? []).map((one) => one.uid)));
  // The API may name the record: the capability is missing in the group that holds it.
  const group = [uid, ...ancestorsOf(uid).toReversed()].find((one) => groups.has(one)) ?? uid;
  return { missing: { capabilities: capabilities.split(", "), group, groupName: groupNameOf(before, group) } };
};

// The dependencies of a stack, as its preview shows them.

type Edges = ReadonlyMap<string, readonly string[]>;

/** The targets that a resource leads to, in their order, without those behind them. */
const reachedFrom = (start: string, edges: Edges, targets: Iterable<string>): string[] => {
  const wanted = new Set(targets);
  const seen = new Set([start]);
  const found = new Set<string>();
  const open = [start];
  for (let urn = open.pop(); urn !== undefined; urn = open.pop())
    for (const next of edges.get(urn) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (wanted.has(next)) found.add(next);
      else open.push(next);
    }
  return [...wanted].filter((urn) => found.has(urn));
};

/** The dependencies of each resource, by its inputs or its parent. */
const dependenciesIn = ({ steps }: Preview) => {
  const needs = new Map<string, string[]>();
  for (const { urn, newState, oldState } of steps)
    for (const state of [newState, oldState])
      getOrInsert(needs, urn, () => []).push(
        ...(state?.dependencies ?? []),
        ...Object.values(state?.propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
        ...(state?.parent ? [state.parent] : []),
      );
  return needs;
};

const inverted = (edges: Edges): Edges => {
  const all = [...edges].flatMap(([from, targets]) => targets.map((to) => ({ from, to })));
  return new Map([...Map.groupBy(all, ({ to }) => to)].map(([to, own]) => [to, own.map(({ from }) => from)]));
};

/** These resources, and those that need a value of them. A deletion needs none. */
export const withDependents = (preview: Preview, urns: readonly string[]): string[] => {
  const needs = dependenciesIn(preview);
  const declared = preview.steps.filter(({ op }) => !op.includes("delete") && op !== "refresh").map(({ urn }) => urn);
  const waiting = declared.filter((urn) => reachedFrom(urn, needs, urns).length > 0);
  return [...new Set([...urns, ...waiting])];
};
