// What the steps of a run mean: which of them failed, what is missing for them, and which changes did not run.
import { type AccessGraph, groupNameOf } from "../../access/graph/graph.ts";
import type { RunReport, Step } from "../../access/review/report.ts";
import type { NotRun } from "../../access/run/not-run.ts";
import { joinWithAnd } from "../../access/text.ts";
import type { Preview } from "../../pulumi/preview.ts";
import { ourTypeOf, partsOfUrn } from "../../pulumi/urn.ts";
import { ancestorsOf } from "../../schema/index.ts";
import type { Twin } from "../twin/twin.ts";
import { dependenciesIn, inverted, reachedFrom } from "./dependencies.ts";
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

interface Outcome extends Pick<RunReport, "steps" | "errors" | "others"> {
  notRun: NotRun[];
}

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
  // What depends on a resource is deleted before it.
  const otherFor = (urn: string, op: string) =>
    reachedFrom(urn, op.includes("delete") ? neededBy : needs, changedByOthers.keys())[0];
  const notReached = planned.filter(
    ({ urn, op }) =>
      ourTypeOf(urn) !== undefined &&
      op !== SHOWN_AS_THREE &&
      !isReached(urn, op, input, otherFor(urn, op) !== undefined),
  );
  const notRun: Outcome["notRun"] = [];
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
    const causes = reachedFrom(urn, op.includes("delete") ? neededBy : needs, failed);
    if (other !== undefined) {
      notRun.push({ urn, op, why: waitsFor(other) });
      waitingForOther.push(urn);
    } else
      steps.push({
        ...{ urn, op, ok: false },
        error:
          causes.length + failed.size > 0
            ? notRunText(causes.length > 0 ? causes : [...failed])
            : undeclaredText(op, errors),
      });
    if (causes.length > 0) waiting.push(urn);
  }
  const isOwn = (text: string) =>
    !isOfStep(text, ran) && !isOfUnknownValue(text, waiting, waitingForOther) && !isOfEnding(text);
  return { steps, errors: errors.filter(isOwn), notRun, others };
};

/**
 * A step may turn out to change nothing: then the engine has dealt with its resource all the same. It says so, too, of one that it skips
 * because of another provider.
 */
const isReached = (urn: string, op: string, { steps, settled }: OutcomeInput, mayBeSkipped: boolean) => {
  const own = steps.filter((one) => one.urn === urn && one.op !== "refresh");
  // The engine deals with a resource that it keeps, too.
  if (op === "delete") return own.length > 0;
  if (op !== "delete-replaced") return (settled.has(urn) && !mayBeSkipped) || own.length > 0;
  return own.some((one) => one.op === op) || !own.some((one) => one.op === "create-replacement" && one.ok);
};

/** The SDK of the program repeats the failure of each step, and the stand-in refuses what is not ours. */
const isOfStep = (text: string, ran: readonly RunStep[]) => {
  const [, name, type] = /resource (.+) \[([^\]]+)\] failed to register/.exec(text) ?? [];
  const isFailed = ran.some(({ urn, ok }) => !ok && partsOfUrn(urn).name === name && partsOfUrn(urn).type === type);
  return isFailed || text.includes(NOT_RUN);
};

/**
 * Some versions of the SDK send what depends on a failed step all the same. The engine then has the provider check it with values that are not
 * known, and nobody can correct those. After a read that was refused, each value is empty.
 */
const isOfUnknownValue = (text: string, waiting: readonly string[], waitingForOther: readonly string[]) => {
  const [, type, name, value = ""] =
    /^(\S+) resource '(.+?)': property \S+ value (.*) has a problem: /s.exec(text) ?? [];
  const urns = /output<.*?>\{\}/s.test(value) ? [...waiting, ...waitingForOther] : waitingForOther;
  return urns.some((urn) => partsOfUrn(urn).name === name && partsOfUrn(urn).type === type);
};

/** An engine that ends while a provider still checks a resource says so of that resource. Why it ends is an error of its own. */
const isOfEnding = (text: string) => text.endsWith(" has a problem: grpc: the client connection is closing");

const FAILED_SHOWN = 5;

const notRunText = (failed: readonly string[]) => {
  const names = failed.slice(0, FAILED_SHOWN).map(nameOf);
  const rest = failed.length - names.length;
  return `it did not run, since ${joinWithAnd(rest > 0 ? [...names, `${rest} more`] : names)} failed`;
};

/** `errors` may be why the program did not come to it. */
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
