// Names of exported records: readable, unique, and the same whatever the order of the lists.
import fc from "fast-check";
import { expect, test } from "vitest";
import { identifier, type Named, slug, uniqueNames } from "../../../access/export/names.ts";
import { presetFor } from "../../../access/export/preset.ts";
import { type Preset, presetProblems } from "../../../access/preset/preset.ts";
import { type PresetName, presets } from "../../../access/preset/presets.ts";

const root = "a".repeat(40);
const segment = (n: number): string => n.toString(16).padStart(16, "0");
const named = (n: number, words: string, path = "/"): Named => ({
  ...{ uid: `${root}/${segment(n)}`, words: [words], path, fallback: "group" },
});
const namesOf = (...records: Named[]) => records.map(({ uid }) => uniqueNames(records).get(uid));

test.each([
  ["release workflow", "release-workflow"],
  ["Platform / SRE", "platform-sre"],
  ["...", ""],
  ["é😀", ""],
  [`"); process.exit(1); ("`, "process-exit-1"],
  ["a".repeat(300), "a".repeat(80)],
])("%j has the slug %j", (text, expected) => {
  expect(slug(text)).toBe(expected);
});

test("a name is that of the record; of equal ones, the path of the group decides, then the uid", () => {
  expect(namesOf(named(1, "platform"))).toEqual(["platform"]);
  expect(namesOf(named(1, "registry", "platform"), named(2, "registry", "product"))).toEqual([
    "platform-registry",
    "product-registry",
  ]);
  expect(namesOf(named(1, "a b", "p"), named(2, "a-b", "p"), named(3, "other"))).toEqual([
    `a-b-${segment(1)}`,
    `a-b-${segment(2)}`,
    "other",
  ]);
  // As variables these are equal.
  expect(namesOf(named(1, "a 1", "p"), named(2, "a1", "q"))).toEqual(["p-a-1", "q-a1"]);
  expect(namesOf(named(1, "..."))).toEqual(["group"]);
});

test("any records have names of their own, in any order of the list", () => {
  const records = fc.uniqueArray(
    fc.record({
      n: fc.nat(50),
      words: fc.constantFrom("a", "a 1", "a1", "1", "", "a-b", "b", `a-${segment(1)}`),
      path: fc.constantFrom("", "/", "a", "a/b"),
    }),
    { selector: ({ n }) => n },
  );
  fc.assert(
    fc.property(records, (all) => {
      const list = all.map(({ n, words, path }) => named(n, words, path));
      const names = uniqueNames(list);
      expect(new Set([...names.values()].map((name) => identifier(name).toLowerCase())).size).toBe(list.length);
      for (const name of names.values()) expect(identifier(name)).toMatch(/^[a-z_][a-zA-Z0-9]*$/);
      expect(new Map(uniqueNames([...list].reverse()))).toEqual(new Map([...names].reverse()));
    }),
  );
});

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
