// A relationship is written as a preset only where the preset writes the same.
import { expect, test } from "vitest";
import { presetFor } from "../../../access/export/preset.ts";
import { type Preset, presetProblems } from "../../../access/preset/preset.ts";
import { type PresetName, presets } from "../../../access/preset/presets.ts";

const uses: [PresetName, Record<string, string | boolean>][] = [
  ["github", { repository: "acme/images", branch: "main" }],
  ["github", { repository: "acme/*", branch: "release/*", audience: "https://irm.example" }],
  ["github", { repository: "acme@12/images@34", tag: "v1.*" }],
  ["github", { repository: "acme/*", ownerId: "12", event: "pull_request" }],
  ["github", { repository: "acme/image.*-x", ownerId: "12", branch: "main" }],
  ["github", { repository: "acme/images", environment: "prod: eu" }],
  ["github", { repository: "acme/*", event: "pull_request" }],
  ["github", { repository: "acme/images", event: "push", issuer: "https://token.actions.acme.ghe.com" }],
  ["gitlab", { project: "acme/platform/images", branch: "main", protected: true }],
  ["gitlab", { project: "acme/*", tag: "v*", issuer: "https://git.acme.example" }],
  ["buildkite", { organization: "acme", pipeline: "images-*", branch: "main" }],
  ["kubernetes", { issuer: "https://oidc.example", namespace: "team-*", serviceAccount: "deployer" }],
  ["google", { uniqueId: "107517467455664443765" }],
  ["google", { email: "deployer-*@acme.iam.gserviceaccount.com", audience: "irm" }],
  ["google", { uniqueId: "107517467455664443765", email: "deployer@acme.iam.gserviceaccount.com" }],
  ["aws", { account: "123456789012", role: "deployer" }],
  ["aws", { account: "123456789012", role: "deploy-*", session: "i-0123", partition: "aws-cn" }],
  ["aws", { account: "123456789012", role: "deployer", session: "ship", uniqueId: "AROA0123ABCD" }],
  ["aws", { account: "123456789012", user: "teams/deployer", uniqueId: "AIDA0123ABCD" }],
];

test.each(uses)("%s %j is found again in what it writes", (name, args) => {
  const preset = presets[name] as unknown as Preset<typeof args>;
  expect(presetProblems(preset as Preset, args)).toEqual([]);
  expect(presetFor(preset.relationship(args) as never)).toEqual({ name, args });
});

const GITHUB = "https://token.actions.githubusercontent.com";
const subject = "repo:acme/images:ref:refs/heads/main";

test.each([
  { issuer: GITHUB, subject, claims: { actor: "ann" } },
  { issuer: GITHUB, subject, audiencePattern: ".*" },
  { issuer: GITHUB, subjectPattern: "repo:acme/.*:ref:refs/heads/main" },
  { issuerPattern: ".*", subject },
  // A star is literal where the claim is compared byte for byte.
  { issuer: GITHUB, subject: "repo:acme/*:ref:refs/heads/main" },
  { issuer: "https://oidc.example", subject: "system:serviceaccount:prod:a:b" },
])("%j is no preset", (claimMatch) => {
  expect(presetFor({ claimMatch })).toBeUndefined();
});
