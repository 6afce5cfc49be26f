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

const { github, gitlab, buildkite, kubernetes, google } = presets;
const fromPresets = (): Json[] => {
  const of = ["acme/images", "acme/*", "acme@123456/images@456789", "acme/image-*"].flatMap((repository) =>
    ["main", "release/*"].flatMap((ref) => [
      github.relationship({ repository, branch: ref }),
      ...["pull_request", "push"].map((event) => github.relationship({ repository, event })),
      gitlab.relationship({ project: repository.replaceAll(/@\d+/g, ""), tag: ref, protected: true }),
      buildkite.relationship({ organization: "acme", pipeline: "*", branch: ref }),
    ]),
  );
  const clusters = kubernetes.relationship({ issuer: "https://k.example", namespace: "team-*", serviceAccount: "*" });
  return [...of, clusters, google.relationship({ email: "*@acme.iam.gserviceaccount.com" })] as unknown as Json[];
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
