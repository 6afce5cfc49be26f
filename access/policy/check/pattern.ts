// Patterns that let everyone in. A pattern is tried on claims that have nothing to do with each other: one that takes them all
// says nothing, and one that takes the same workflow of two strangers on a shared issuer is open to every customer of it.
import { type Json, patternMatcher } from "../../../schema/index.ts";
import { BUILDKITE_ISSUER } from "../../preset/buildkite.ts";
import { GITHUB_ISSUER } from "../../preset/github-actions.ts";
import { GITLAB_ISSUER } from "../../preset/gitlab.ts";
import { GOOGLE_ISSUER } from "../../preset/google.ts";
import type { Path, Report } from "./report.ts";

const ANY_TEXT = ["q7", "zx-81:k/w", "repo:someone/else:ref:refs/heads/x", "107517467455664443765", "A b_c@d.example"];
const ANY_ISSUER = ["https://one.example", "https://other.invalid/id/7", "https://xn--abc.test/a/b"];

/** Subjects of customers of a shared issuer: those of one list differ only in whose they are. */
const STRANGERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  [GITHUB_ISSUER]: [
    "ref:refs/heads/main",
    "ref:refs/heads/x/y",
    "ref:refs/tags/v1",
    "pull_request",
    "environment:prod",
  ].map((end) => [`repo:zq-one/app:${end}`, `repo:other7/lib:${end}`]),
  [GITLAB_ISSUER]: ["branch:ref:main", "branch:ref:x/y", "tag:ref:v1"].map((end) => [
    `project_path:zq-one/app:ref_type:${end}`,
    `project_path:other7/lib:ref_type:${end}`,
  ]),
  [BUILDKITE_ISSUER]: ["refs/heads/main", "refs/heads/x/y", "refs/tags/v1"].map((ref) => [
    `organization:zq-one:pipeline:app:ref:${ref}:commit:9f31:step:build`,
    `organization:other7:pipeline:lib:ref:${ref}:commit:77ab:step:build`,
  ]),
  [GOOGLE_ISSUER]: [["107517467455664443765", "112010400000000710080"]],
};

const matchesAll = (pattern: string, texts: readonly string[]): boolean =>
  texts.every((text) => patternMatcher(pattern)(text));

export const checkPatterns = (relationship: Json, path: Path, { mistake }: Report): void => {
  const check = (field: string, texts: readonly string[], text: string) => {
    const { [field]: pattern } = relationship;
    if (typeof pattern !== "string" || !matchesAll(pattern, texts)) return false;
    mistake([...path, field], text);
    return true;
  };
  check("issuerPattern", ANY_ISSUER, "matches every issuer, so anyone can sign in; give issuer, the one that you mean");
  check("audiencePattern", ANY_TEXT, "matches everything; give the audience, or leave it out");
  for (const field of ["arnPattern", "userIdPattern"] as const)
    if (relationship[field === "arnPattern" ? "userId" : "arn"] === undefined)
      check(field, ANY_TEXT, "matches everything; name the role or user, as the preset aws does");
  const {
    claims,
    claimPatterns = {},
    issuer,
    subjectPattern,
  } = relationship as {
    claims?: Record<string, string>;
    claimPatterns?: Record<string, string>;
    issuer?: string;
    subjectPattern?: string;
  };
  for (const [claim, pattern] of Object.entries(claimPatterns))
    if (matchesAll(pattern, ANY_TEXT))
      mistake([...path, "claimPatterns", claim], "matches everything; give the values that you mean, or leave it out");
  // Another claim may say whose it is.
  if (Object.keys({ ...claims, ...claimPatterns }).length > 0) return;
  if (check("subjectPattern", ANY_TEXT, "matches every subject of the issuer; name the workload")) return;
  const strangers = Object.hasOwn(STRANGERS, issuer ?? "") ? STRANGERS[issuer as string] : [];
  if (subjectPattern !== undefined && strangers?.some((subjects) => matchesAll(subjectPattern, subjects)))
    mistake([...path, "subjectPattern"], `matches the workloads of every customer of ${issuer}; name the organization`);
};
