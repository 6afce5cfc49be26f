// Presets refuse wrong arguments, and say what to write instead.
import { describe, expect, test } from "vitest";
import { aws, buildkite, githubActions, gitlab, google, kubernetes } from "../../../access/preset/index.ts";
import { type PresetName, presets } from "../../../access/preset/presets.ts";
import type { IdentityArgs } from "../../../provider/program/generated/identity.ts";
import { type Json, patternMatcher } from "../../../schema/index.ts";
import { createRandom } from "../../support/random.ts";
import { valuesOf } from "../../support/rows.ts";

const functions = { aws, buildkite, githubActions, gitlab, google, kubernetes };

const REFUSED = String.raw`
githubActions | { repository: acme, branch: main } | repository must be owner/name, such as acme/images
githubActions | { repository: https://github.com/acme/images.git, branch: m } | repository must be owner/name: acme/images
githubActions | { repository: "git@github.com:acme/images.git", branch: m } | repository must be owner/name: acme/images
githubActions | { repository: acme*/images, branch: main } | repository must name one owner: * may stand only after the slash, as in acme/*
githubActions | { repository: a/b, branch: refs/heads/main } | branch must be the name of the branch alone: main
githubActions | { repository: a/b, tag: refs/tags/v1 } | tag must be the name of the tag alone: v1
githubActions | { repository: a/b, branch: "a:b" } | branch must not contain ":", which separates the parts of the subject
githubActions | { repository: a/b, event: pull-request } | event is not an event of GitHub; did you mean pull_request?
githubActions | { repository: a/b } | one of branch, tag, environment, event is required
githubActions | { repository: a/b, branch: main, tag: v1 } | tag only one of branch, tag, environment, event may be given
githubActions | { branch: main } | repository is required
githubActions | { repository: a/b, branch: 1 } | branch must be a string: write "1", in quotes
githubActions | { repository: a/b, branch: "" } | branch must not be empty
githubActions | { repository: a/b, branch: "a\nb" } | branch must not contain control characters
githubActions | { repository: a/b, branch: main, branchh: a } | branchh unknown argument; did you mean branch?
githubActions | { repository: a/b, branch: main, issuer: http://ghe.example.com } | issuer must be https: https://ghe.example.com
githubActions | { repository: a/b, branch: main, ownerId: octo-org, repositoryId: "012" }
  | ownerId must be a number, as gh api repos/acme/images --jq ".owner.id, .id" prints it; repositoryId must be a number
githubActions | { repository: a/b, branch: main, ownerId: "12" } | ownerId needs repositoryId too: a subject has both ids, or none
githubActions | { repository: a/b, branch: main, repositoryId: "34" } | repositoryId needs ownerId too: a subject has both ids
githubActions | { repository: acme/*, branch: main, ownerId: "12", repositoryId: "34" }
  | repositoryId is of one repository; leave it out beside *
githubActions | { repository: acme@12/images@34, branch: main, ownerId: "12", repositoryId: "34" }
  | ownerId is given twice: repository has ids already
githubActions | { repository: acme, brnch: main } | repository must be owner/name, such as acme/images; brnch
gitlab | { project: images, branch: main } | project must be a path such as acme/images
gitlab | { project: /acme/images, branch: main } | project must be a path such as acme/images
gitlab | { project: "*/images", branch: main } | project must name one group: * may stand only after the first slash, as in acme/*
gitlab | { project: acme/images, branch: main, protected: "yes" } | protected must be true or false
gitlab | { project: acme/images, branch: main, issuer: gitlab.com } | issuer must be an https URL: https://gitlab.com
buildkite | { organization: "*", pipeline: images, branch: main } | organization must name one organization: * is not allowed here
buildkite | { organization: acme, pipeline: a/b, branch: main } | pipeline must not contain "/"
google | {} | one of uniqueId, email is required
google | { uniqueId: deployer } | uniqueId must be the number of the service account: digits alone, in quotes
google | { email: deployer } | email must be an address such as deployer@acme.iam.gserviceaccount.com
google | { email: deployer@* } | email must name one project: * may stand only before the @
kubernetes | { namespace: prod, serviceAccount: deployer } | issuer is required
kubernetes | { issuer: https://*.example.com, namespace: prod, serviceAccount: deployer }
  | issuer must name one issuer: * is not allowed here
kubernetes | { issuer: https://k.example, namespace: "*", serviceAccount: "*" }
  | serviceAccount matches every pod of the cluster, together with namespace; name one of them
kubernetes | { issuer: https://k.example, namespace: "prod:deployer", serviceAccount: deployer } | namespace must not contain ":"
aws | { account: 123456789012, role: r } | account must be a string: write "123456789012", in quotes
aws | { account: "1234", role: r } | account must be twelve digits, in quotes
aws | { account: "123456789012", role: "arn:aws:iam::1:role/r" } | role must be the name alone, not an ARN
aws | { account: "123456789012", role: path/r } | role must not contain "/"
aws | { account: "123456789012", user: u, session: s } | session belongs to a role, not to a user
aws | { account: "123456789012", user: u, uniqueId: AROA1 } | uniqueId is the id of a role, not of a user
aws | { account: "123456789012", role: r, partition: azure } | partition must be aws, aws-cn or aws-us-gov
`;

test.each(valuesOf<[keyof typeof functions, object, string]>("-y", REFUSED))("%s refuses %j: %s", (name, args, text) =>
  expect(() => functions[name](args as never)).toThrow(`${name}: ${text}`),
);

test("what the presets return are arguments of an Identity", () => {
  const fields = { parent: "p", name: "n" };
  const identities: IdentityArgs[] = [
    { ...fields, ...githubActions({ repository: "acme/images", branch: "main" }) },
    { ...fields, ...aws({ account: "123456789012", role: "deployer" }) },
  ];
  expect(identities.map((args) => Object.keys(args).at(-1))).toEqual(["claimMatch", "awsIdentity"]);
});

/** An argument: the preset, its arguments, the field that it decides, and the claim of a workload. `VALUE` is the value of both. */
const CASES = valuesOf<[preset: PresetName, args: Json, field: string, claim: string]>(
  "-y",
  `
  github | { repository: acme/images, branch: VALUE } | subject | repo:acme/images:ref:refs/heads/VALUE
  github | { repository: acme/images, environment: VALUE } | subject | repo:acme/images:environment:VALUE
  gitlab | { project: acme/VALUE, branch: main } | subject | project_path:acme/VALUE:ref_type:branch:ref:main
  gitlab | { project: acme/images, tag: VALUE } | subject | project_path:acme/images:ref_type:tag:ref:VALUE
  buildkite | { organization: acme, pipeline: VALUE, branch: main } | subject
    | organization:acme:pipeline:VALUE:ref:refs/heads/main:commit:9f31:step:build
  kubernetes | { issuer: https://oidc.example.com/id/7, namespace: VALUE, serviceAccount: deployer } | subject
    | system:serviceaccount:VALUE:deployer
  google | { email: VALUE@acme.iam.gserviceaccount.com } | email | VALUE@acme.iam.gserviceaccount.com
  aws | { account: "123456789012", role: VALUE, session: s } | arn | arn:aws:sts::123456789012:assumed-role/VALUE/s
  `,
);

const CHARACTERS = [..."ab7.+?()[]{}|^$\\-_~!#%&=,;<> é\u{1f600}"];

describe.each(CASES)("%s %j, its %s", (preset, args, field, template) => {
  const matcher = (value: string): ((claim: string) => boolean) => {
    const own = Object.entries(args).map(([key, text]) => [key, String(text).replace("VALUE", () => value)]);
    const { claimMatch = {}, awsIdentity = {} } = presets[preset].relationship(Object.fromEntries(own)) as unknown as {
      claimMatch?: Json & { claims?: Json; claimPatterns?: Json };
      awsIdentity?: Json;
    };
    const exact = { ...claimMatch.claims, ...claimMatch, ...awsIdentity } as Record<string, unknown>;
    const pattern = claimMatch.claimPatterns?.[field] ?? exact[`${field}Pattern`];
    return pattern === undefined ? (text) => text === exact[field] : patternMatcher(String(pattern));
  };
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
