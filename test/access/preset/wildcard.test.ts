// In every argument of a preset that takes `*`, it matches anything except `/` and `:`, and everything else is literal.
import { describe, expect, test } from "vitest";
import { aws, buildkite, githubActions, gitlab, google, kubernetes } from "../../../access/preset/index.ts";
import { patternMatcher } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";

const issuer = "https://oidc.example.com/id/7";
const repository = "acme/images";
const subjectMatcher = ({ claimMatch }: ReturnType<typeof gitlab>): ((text: string) => boolean) => {
  const { subject, subjectPattern } = claimMatch;
  return subjectPattern === undefined ? (text) => text === subject : patternMatcher(subjectPattern);
};
const arnMatcher = ({ awsIdentity }: ReturnType<typeof aws>): ((text: string) => boolean) =>
  awsIdentity.arnPattern === undefined ? (text) => text === awsIdentity.arn : patternMatcher(awsIdentity.arnPattern);
const emailMatcher = ({ claimMatch }: ReturnType<typeof google>): ((text: string) => boolean) => {
  const { claims, claimPatterns } = claimMatch;
  return claimPatterns?.email === undefined ? (text) => text === claims?.email : patternMatcher(claimPatterns.email);
};

/** An argument: the matcher for its value, and the claim of a workload, in which `VALUE` is that value. */
type Case = [name: string, matcher: (value: string) => (claim: string) => boolean, claim: string];

const account = "123456789012";
const CASES: Case[] = [
  [
    "github branch",
    (branch) => subjectMatcher(githubActions({ repository, branch })),
    "repo:acme/images:ref:refs/heads/VALUE",
  ],
  [
    "github environment",
    (environment) => subjectMatcher(githubActions({ repository, environment })),
    "repo:acme/images:environment:VALUE",
  ],
  [
    "gitlab project",
    (value) => subjectMatcher(gitlab({ project: `acme/${value}`, branch: "main" })),
    "project_path:acme/VALUE:ref_type:branch:ref:main",
  ],
  [
    "gitlab tag",
    (tag) => subjectMatcher(gitlab({ project: "acme/images", tag })),
    "project_path:acme/images:ref_type:tag:ref:VALUE",
  ],
  [
    "buildkite pipeline",
    (pipeline) => subjectMatcher(buildkite({ organization: "acme", pipeline, branch: "main" })),
    "organization:acme:pipeline:VALUE:ref:refs/heads/main:commit:9f31:step:build",
  ],
  [
    "kubernetes namespace",
    (namespace) => subjectMatcher(kubernetes({ issuer, namespace, serviceAccount: "deployer" })),
    "system:serviceaccount:VALUE:deployer",
  ],
  [
    "google email",
    (value) => emailMatcher(google({ email: `${value}@acme.iam.gserviceaccount.com` })),
    "VALUE@acme.iam.gserviceaccount.com",
  ],
  [
    "aws role",
    (role) => arnMatcher(aws({ account, role, session: "s" })),
    `arn:aws:sts::${account}:assumed-role/VALUE/s`,
  ],
];

const CHARACTERS = [..."ab7.+?()[]{}|^$\\-_~!#%&=,;<> é\u{1f600}"];

describe.each(CASES)("%s", (_, matcher, template) => {
  const claim = (value: string): string => template.replace("VALUE", () => value);
  const random = createRandom(5);
  const word = (): string => Array.from({ length: 1 + random.below(6) }, () => random.pick(CHARACTERS)).join("");

  test("* matches anything except / and : (seed 5)", () => {
    for (let i = 0; i < 50; i += 1) {
      const [start, middle, end] = [word(), word(), word()];
      const isMatch = matcher(`${start}*${end}`);
      for (const text of ["", middle, "*"]) expect(isMatch(claim(start + text + end)), text).toBe(true);
      for (const text of [`${middle}/`, `:${middle}`, `x/y`, "a:b"])
        expect(isMatch(claim(start + text + end))).toBe(false);
      for (const other of [`x${claim(start + end)}`, `${claim(start + end)}:x`, claim(`${start}${end}/x`)])
        expect(isMatch(other), other).toBe(false);
    }
  });

  test("everything else is literal, with * and without (seed 5)", () => {
    for (let i = 0; i < 50; i += 1) {
      const [own, other] = [word(), word()];
      expect(matcher(own)(claim(own))).toBe(true);
      expect(matcher(own)(claim(other))).toBe(own === other);
      expect(matcher(`${own}*`)(claim(own))).toBe(true);
      expect(matcher(`${own}*`)(claim(other))).toBe(other.startsWith(own));
    }
  });
});
