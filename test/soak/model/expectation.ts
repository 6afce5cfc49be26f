// What an answer has to be: one of the errors that apply, or, where none does, exactly what the oracle says.
import { deepStrictEqual } from "node:assert/strict";
import type { Answer } from "../../support/http.ts";
import { CODES, type RefusalCode } from "../../support/refusal.ts";
import type { Json } from "./oracle.ts";

export interface Problem {
  code: RefusalCode;
  /** fields of the violations; absent: docs/internals/contract.md does not say which */
  fields?: readonly string[];
  /** `kind of violation: description` of each violated precondition */
  preconditions?: readonly string[];
}

export interface Expectation {
  /** none: it succeeds. Several: any of them, since their order is nowhere specified */
  problems: readonly Problem[];
  /** takes what the server chose from its answer, changes the oracle, and says what the answer has to be */
  accept: (answer: Json) => Json | "empty";
}

export const invalid = (...fields: string[]): Problem => ({ code: "INVALID_ARGUMENT", fields });
export const denied: Problem = { code: "PERMISSION_DENIED" };
export const missing: Problem = { code: "NOT_FOUND" };

/** Throws with both sides where the answer is not what it has to be. */
export const checkAnswer = (answer: Answer, { problems, accept }: Expectation): void => {
  if (problems.length > 0) {
    checkRefusal(answer, problems);
    return;
  }
  if (answer.status !== 200) throw new Error(`refused with ${answer.status}: ${answer.text}`);
  const expected = accept(answer.json);
  if (expected === "empty") deepStrictEqual(answer.text, "");
  // As JSON: without the prototypes that generated values may have.
  else deepStrictEqual(answer.json, JSON.parse(JSON.stringify(expected)));
};

interface Detail {
  "@type": string;
  reason?: string;
  domain?: string;
  fieldViolations?: { field: string; description: string }[];
  violations?: { type: string; description: string }[];
}

const checkRefusal = ({ status, json, text }: Answer, problems: readonly Problem[]): void => {
  const problem = problems.find(({ code }) => CODES[code][0] === json.code);
  if (!problem) throw new Error(`expected ${problems.map(({ code }) => code).join(" or ")}, not ${status}: ${text}`);
  const [, http, category] = CODES[problem.code];
  const details = json.details as Detail[];
  const [info] = details;
  deepStrictEqual(status, http);
  deepStrictEqual([info?.reason, info?.domain], [problem.code, "iam.chainguard.dev"]);
  const violations = details.flatMap(({ fieldViolations = [] }) => fieldViolations);
  const preconditions = details.flatMap(({ violations: own = [] }) => own);
  if (problem.fields) deepStrictEqual(violations.map(({ field }) => field).toSorted(), problem.fields.toSorted());
  if (problem.preconditions)
    deepStrictEqual(
      preconditions.map(({ type, description }) => `${type}: ${description}`).toSorted(),
      problem.preconditions.toSorted(),
    );
  // The message is made from the first violation (docs/internals/contract.md#d29).
  const first = violations[0] ? `${violations[0].field}: ${violations[0].description}` : preconditions[0]?.description;
  const description = first ?? (json.message as string).slice(category.length + 2);
  deepStrictEqual(json.message, `${category}: ${description}`);
};
