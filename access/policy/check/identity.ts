// The identities of a policy, with the relationship of their preset, or the one that is written out.
import {
  asMeant,
  canonicalForm,
  Identity,
  inputFields,
  inputViolations,
  isObject,
  type Json,
} from "../../../schema/index.ts";
import { suggestion } from "../../../schema/nearest.ts";
import { type Budget, newReviewBudget } from "../../pattern/budget.ts";
import { issuerViolation, mustBeString, presetProblems } from "../../preset/preset.ts";
import { type PresetName, presets } from "../../preset/presets.ts";
import { mixedIdsFinder, mixedIdsText, neverMatchedIn, openPatternsIn } from "../../workload/open-pattern.ts";
import type { PolicyGroup, PolicyIdentity } from "../policy.ts";
import { RAW_RELATIONSHIPS, type RawRelationship, relationshipMessage } from "../shape.ts";
import { checkGroupPath } from "./group.ts";
import { type Path, type Report, recordChecker } from "./report.ts";
import type { PolicyDraft } from "./shape.ts";

export const checkIdentities = (
  draft: PolicyDraft["identities"],
  groups: ReadonlyMap<string, PolicyGroup>,
  report: Report,
): Map<string, PolicyIdentity> => {
  const found = new Map<string, PolicyIdentity>();
  const check = recordChecker(report, Identity, "identity", Object.keys(draft ?? {}));
  const budget = newReviewBudget();
  const findMixedIds = mixedIdsFinder<string>();
  for (const [key, identity] of Object.entries(draft ?? {})) {
    const path = ["identities", key];
    const group = checkGroupPath(identity.in, groups, [...path, "in"], report);
    const { violations: _, ...record } = check(key, identity, path, group);
    const relationship = checkRelationship(identity, path, report, budget);
    const { claimMatch } = (relationship ?? {}) as { claimMatch?: Json };
    for (const { plain, beside } of claimMatch ? findMixedIds(key, claimMatch, budget) : [])
      report.warn(["identities", plain], mixedIdsText(`identities.${beside}`));
    if (group !== undefined && relationship) found.set(key, { key, group, ...record, relationship });
  }
  return found;
};

// How a workload assumes an identity: exactly one preset, or claimMatch, staticKeys or awsIdentity as in Identity. The API's own rules
// judge the result.

const WORDS: readonly string[] = [...Object.keys(presets), ...RAW_RELATIONSHIPS];

const isPreset = (word: string): word is PresetName => Object.hasOwn(presets, word);

/** How a test describes a workload: like an identity, without keys, which belong to one identity. */
const WORKLOAD_WORDS: readonly string[] = WORDS.filter((word) => word !== "staticKeys");

/** A pattern may be as wide as it likes: it describes the workloads that a test is about. */
export const checkWorkload = (workload: Json, path: Path, report: Report): Json | undefined => {
  const unknown = Object.keys(workload).filter((word) => !WORKLOAD_WORDS.includes(word));
  for (const word of unknown) {
    const near = suggestion(word, WORKLOAD_WORDS) || `; there are ${WORKLOAD_WORDS.join(", ")}`;
    report.wrongKey([...path, word], `there is no such workload${near}`);
  }
  return unknown.length > 0 ? undefined : checkRelationship(workload, path, report);
};

/** `budget`: the steps for the patterns of all identities. Without a budget, a pattern may be as wide as it likes. */
const checkRelationship = (identity: Json, path: Path, report: Report, budget?: Budget): Json | undefined => {
  const [word, second] = Object.keys(identity).filter((field) => WORDS.includes(field));
  if (word === undefined) {
    report.wrongKey(path, `names no workload that can assume it; give one of ${WORDS.join(", ")}`);
    return undefined;
  }
  if (second !== undefined)
    report.wrongKey([...path, second], `only one of ${WORDS.join(", ")} may be given; there is ${word} already`);
  const wordPath = [...path, word];
  return isPreset(word)
    ? fromPreset(word, identity[word], wordPath, report)
    : checkRawRelationship(word as RawRelationship, identity[word], wordPath, report, budget);
};

const fromPreset = (word: PresetName, args: unknown, path: Path, report: Report): Json | undefined => {
  const { mistake, writtenAt } = report;
  const problems = presetProblems(presets[word], args);
  for (const { field, text } of problems) {
    const fieldPath = field === undefined ? path : [...path, field];
    const value = field === undefined ? undefined : (args as Json)[field];
    mistake(fieldPath, text === mustBeString(String(value)) ? mustBeString(writtenAt(fieldPath)) : text);
  }
  if (problems.length > 0) return undefined;
  const relationship = presets[word].relationship(args as never) as unknown as Json;
  const [name, value] = Object.entries(relationship)[0] as [RawRelationship, Json];
  const violations = inputViolations(relationshipMessage(name), value);
  for (const { field, description } of violations) mistake(path, `stands for a ${field} that ${description}`);
  if (violations.length > 0) return undefined;
  // Of a preset's claims, only the issuer can be one that no token has.
  const never = name === "claimMatch" ? neverMatchedIn(value) : [];
  for (const { path: at, text } of never) mistake([...path, ...at], text);
  return never.length > 0 ? undefined : relationship;
};

const checkRawRelationship = (
  word: RawRelationship,
  value: unknown,
  path: Path,
  report: Report,
  budget: Budget | undefined,
): Json | undefined => {
  if (!isObject(value)) {
    report.mistake(path, "must be a map");
    return undefined;
  }
  const message = relationshipMessage(word);
  const fields = inputFields(message);
  const unknown = Object.keys(value).filter((field) => !fields.includes(field));
  for (const field of unknown)
    report.wrongKey([...path, field], `${word} has no such field${suggestion(field, fields)}`);
  const meant = asMeant(message, value);
  const violations = inputViolations(message, meant);
  for (const { field, description } of violations)
    report.mistake([...path, ...field.split(/\.|\[(\d+)\]/).filter(Boolean)], violationText(field, description, meant));
  if (violations.length + unknown.length > 0) return undefined;
  if (word === "claimMatch")
    for (const { path: at, text, isCertain } of neverMatchedIn(value))
      report[isCertain ? "mistake" : "warn"]([...path, ...at], text);
  if (budget) for (const open of openPatternsIn(value, budget)) report.mistake([...path, ...open.path], open.text);
  return { [word]: canonicalForm(message, value) };
};

const violationText = (field: string, description: string, value: Json) => {
  const { [field]: text } = value;
  return (field === "issuer" && typeof text === "string" && issuerViolation(text)) || description;
};
