// Of the patterns that docs, examples and presets show, hardly any question stays undecided.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countTexts } from "../../../access/pattern/decide.ts";
import { presets } from "../../../access/preset/presets.ts";
import { breadthOf } from "../../../access/workload/breadth.ts";
import { everyoneIn } from "../../../access/workload/everyone.ts";
import { othersIn } from "../../../access/workload/others.ts";
import { pullRequestsIn } from "../../../access/workload/pull-request.ts";
import { tokensOf } from "../../../access/workload/token.ts";
import type { Json } from "../../../schema/index.ts";
import { root } from "../../harness/api-process.ts";

const ISSUER = "https://token.actions.githubusercontent.com";
const FIELD = /(?:subject_?pattern|claim_?patterns?\W+\w+|issuer_?pattern|audience_?pattern)"?\s*:\s*(["'])(.+?)\1/gi;

const written = (): Json[] => {
  const files = execFileSync("git", ["ls-files", "docs", "examples", "README.md", "access/preset"], { cwd: root })
    .toString()
    .split("\n")
    .filter((file) => /\.(?:md|ts|ya?ml|py)$/.test(file));
  return files.flatMap((file) => {
    const patterns = [...readFileSync(join(root, file), "utf8").matchAll(FIELD)].map(([, , pattern = ""]) => pattern);
    return patterns.map((pattern) => ({
      claimMatch: { issuer: ISSUER, subjectPattern: pattern.replaceAll("\\\\", "\\") },
    }));
  });
};

const { github, gitlab, buildkite, kubernetes, google, aws } = presets;
const fromPresets = (): Json[] => {
  const refs = ["main", "release/*", "v*", "v1.0"];
  const ofGithub = ["acme/images", "acme/*", "acme@123456/images@456789", "acme/image-*"].flatMap((repository) =>
    [
      ...refs.flatMap((ref) => [{ branch: ref }, { tag: ref }]),
      { environment: "prod" },
      ...["pull_request", "push", "release"].map((event) => ({ event })),
    ].map((own) => github.relationship({ repository, ...own })),
  );
  const ofOthers = refs.flatMap((ref) => [
    gitlab.relationship({ project: "acme/images", branch: ref }),
    gitlab.relationship({ project: "acme/*", tag: ref, protected: true }),
    buildkite.relationship({ organization: "acme", pipeline: "*", branch: ref }),
  ]);
  return [
    ...[...ofGithub, ...ofOthers],
    kubernetes.relationship({ issuer: "https://k.example", namespace: "team-*", serviceAccount: "*" }),
    google.relationship({ email: "*@acme.iam.gserviceaccount.com" }),
    aws.relationship({ account: "123456789012", role: "deployer" }),
  ] as unknown as Json[];
};

test("at most one in a hundred questions of docs, examples and presets is undecided", () => {
  const relationships = [...written(), ...fromPresets()];
  expect(written().length).toBeGreaterThan(10);
  const before: Json = { claimMatch: { issuer: ISSUER, subject: "repo:acme/images:ref:refs/heads/main" } };
  const undecided = relationships.flatMap((one) => {
    const { claimMatch } = one as { claimMatch?: Json };
    const answers = [pullRequestsIn(one), everyoneIn(one), othersIn(before, one)].map(({ is }) => is);
    const isCounted = claimMatch === undefined || countTexts(tokensOf(claimMatch).subject, 2) !== undefined;
    breadthOf(one);
    return [...answers, isCounted ? "counted" : "undecided"].filter((answer) => answer === "undecided").map(() => one);
  });
  expect(undecided.length / (4 * relationships.length), JSON.stringify(undecided)).toBeLessThanOrEqual(0.01);
});
