// Tests of access, in a policy or in their own file: who may do what, and who must not. The names in them are resolved when they run.

import { capabilities, isObject } from "../../../schema/index.ts";
import { nearestNames, suggestion } from "../../../schema/nearest.ts";
import { friendlyCapability, matchesCapability } from "../../capability.ts";
import type { AccessTest, TestDenial, TestSubject } from "../policy.ts";
import { checkWorkload } from "./identity.ts";
import type { Path, Report } from "./report.ts";
import type { PolicyDraft } from "./shape.ts";

const DENIAL_FIELDS = ["capability", "at"];

type TestDraft = NonNullable<NonNullable<PolicyDraft["tests"]>[number]>;

export const checkTests = (draft: PolicyDraft["tests"], report: Report): AccessTest[] => {
  const names = new Map<string, number>();
  return (draft ?? []).flatMap((test, i) => {
    if (test === null) return [];
    const path = ["tests", i];
    const checkedTest = checkTest(test, path, report);
    if (checkedTest === undefined) return [];
    const first = names.get(checkedTest.name);
    if (first !== undefined) report.mistake([...path, "name"], `tests[${first}] has this name already; give another`);
    else names.set(checkedTest.name, i);
    return [checkedTest];
  });
};

const checkTest = (test: TestDraft, path: Path, report: Report): AccessTest | undefined => {
  const { mistake, wrongKey } = report;
  const { name, at } = test;
  if (name?.trim() === "") mistake([...path, "name"], "needs a name that says what must hold");
  const subject = checkSubject(test, path, report);
  const can = test.can === undefined ? [] : checkCapabilities(test.can, [...path, "can"], report);
  const cannot = test.cannot === undefined ? [] : checkDenials(test, path, report);
  if (subject?.kind === "holders")
    for (const field of ["can", "cannot"] as const)
      if (test[field] !== undefined)
        wrongKey([...path, field], "belongs to identity or workload; with capability, only says who may have it");
  const isOfActors = subject !== undefined && subject.kind !== "holders";
  if (isOfActors && test.can === undefined && test.cannot === undefined)
    mistake(path, "tests nothing: give can, cannot or both");
  if (test.ever && isOfActors && test.cannot === undefined)
    wrongKey([...path, "ever"], "is about what must never be possible: give cannot, or capability with only");
  if (name === undefined || subject === undefined) return undefined;
  return { name, subject, at, can, cannot, ever: test.ever || undefined, place: report.findPlace(path) };
};

const checkSubject = (test: TestDraft, path: Path, report: Report): TestSubject | undefined => {
  const { mistake, wrongKey } = report;
  const [word, second] = (["capability", "identity", "workload"] as const).filter((field) => test[field] !== undefined);
  if (word === undefined) mistake(path, "does not say whom it tests: give identity, workload, or capability with only");
  if (second !== undefined)
    wrongKey([...path, second], `only one of capability, identity and workload may be given; there is ${word} already`);
  if (test.only !== undefined && word !== "capability")
    wrongKey([...path, "only"], "needs capability: it lists the identities that may have it");
  if (word === "identity") return { kind: "identity", name: test.identity as string };
  if (word === "workload") return checkWorkloadSubject(test.workload, [...path, "workload"], report);
  if (word !== "capability") return undefined;
  const held = checkCapabilities(test.capability, [...path, "capability"], report);
  if (test.only === undefined) mistake(path, "needs only: a list of the identities that may have the capability");
  const only = (test.only ?? []).filter((one) => one !== null);
  return { kind: "holders", capabilities: held, only };
};

const checkWorkloadSubject = (workload: unknown, path: Path, report: Report): TestSubject | undefined => {
  if (!isObject(workload)) {
    report.mistake(path, "must be a map, such as { github: { repository: acme/*, event: pull_request } }");
    return undefined;
  }
  const relationship = checkWorkload(workload, path, report);
  /** `github { repository: acme/*, event: pull_request }` */
  const text = Object.entries(workload)
    .map(([word, value]) => `${word} ${fieldsText(value)}`)
    .join(", ");
  return relationship && { kind: "workload", text, relationship };
};

const fieldsText = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? `{ ${Object.entries(value)
        .map(([name, one]) => `${name}: ${fieldsText(one)}`)
        .join(", ")} }`
    : String(value);

/** One map, or a list of maps and capabilities. An entry without `at` takes the `at` of the test. */
const checkDenials = ({ cannot, at }: TestDraft, path: Path, report: Report): TestDenial[] => {
  const listPath = [...path, "cannot"];
  const checkOne = (denial: unknown, where: Path): TestDenial | undefined => {
    if (typeof denial === "string") return { capabilities: checkCapability(denial, where, report), at };
    if (!isObject(denial)) {
      report.mistake(where, "must be { capability, at }, or a list of capabilities");
      return undefined;
    }
    for (const field of Object.keys(denial).filter((one) => !DENIAL_FIELDS.includes(one))) {
      const near = suggestion(field, DENIAL_FIELDS) || "; there are capability and at";
      report.wrongKey([...where, field], `there is no such field here${near}`);
    }
    const { capability, at: group = at } = denial;
    if (group !== undefined && typeof group !== "string")
      report.mistake([...where, "at"], "must be the path of a group");
    if (capability === undefined) report.mistake(where, "needs capability: what must not be possible");
    const held = capability === undefined ? [] : checkCapabilities(capability, [...where, "capability"], report);
    return { capabilities: held, at: typeof group === "string" ? group : undefined };
  };
  const list = Array.isArray(cannot) ? cannot : [cannot];
  if (list.length === 0) report.mistake(listPath, "is empty: name what must not be possible");
  return list.flatMap((one, i) => checkOne(one, Array.isArray(cannot) ? [...listPath, i] : listPath) ?? []);
};

/** One capability or a list of them; returns the ones that exist. */
const checkCapabilities = (value: unknown, path: Path, report: Report) => {
  if (!Array.isArray(value)) return checkCapability(value, path, report);
  if (value.length === 0) report.mistake(path, "must have at least one capability, such as tag.create or *.create");
  return value.flatMap((one, i) => checkCapability(one, [...path, i], report));
};

const checkCapability = (one: unknown, path: Path, report: Report): string[] => {
  if (typeof one !== "string") {
    report.mistake(path, "must be a capability, such as tag.create or *.create");
    return [];
  }
  const known = friendlyCapability(one);
  if (known !== undefined) return [known];
  const isWildcard = one.includes("*");
  if (isWildcard && names.some((name) => matchesCapability(one, name))) return [one];
  const near = isWildcard ? suggestionOfWildcard(one) : suggestion(one, report.comparable(one, new Set(names)), 3);
  report.mistake(path, `${isWildcard ? "no capability matches" : "there is no capability"} ${one}${near}`);
  return [];
};

const names = capabilities.map(({ name }) => name);

/** `*.craete` resembles `*.create`. */
const suggestionOfWildcard = (text: string) => {
  const forms = names.flatMap((name) => {
    const dot = name.lastIndexOf(".");
    return [`*${name.slice(dot)}`, `${name.slice(0, dot)}.*`];
  });
  const [near] = nearestNames(text, forms, 1);
  return near === undefined ? "" : `; did you mean ${near}?`;
};
