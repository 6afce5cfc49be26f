// Which workloads can assume an identity.
import { describe, expect, test } from "vitest";
import { presets } from "../../../access/preset/presets.ts";
import { canBeAssumedBy, workloadsOf } from "../../../access/workload/workload.ts";
import type { Json } from "../../../schema/index.ts";

const GITHUB = "https://token.actions.githubusercontent.com";
const assumedBy = (match: Json): Json => ({ claimMatch: { issuer: GITHUB, ...match } });
const pulls = presets.github.relationship({ repository: "acme/*", event: "pull_request" }) as unknown as Json;
const answer = (relationship: Json | null, workload: Json = pulls) =>
  canBeAssumedBy(relationship, workloadsOf(workload)).is;

const any = (claims: Json): Json => ({ subjectPattern: ".*", claims });

describe("the pull requests of an owner", () => {
  test.each<[string, Json, string]>([
    ["yes", { subjectPattern: "repo:acme/charts.pull_request" }, "a dot is a colon too"],
    ["yes", any({ repository: "acme/x" }), "a repository of the owner"],
    ["yes", any({ job_workflow_ref: "acme/ci/x.yml@refs/heads/main" }), "called workflow"],
    ["yes", any({ actor: "bob" }), "a claim that may be anything"],
    ["no", { subjectPattern: "repo:evil/.*" }, "another owner"],
    ["no", any({ repository_owner: "evil" }), "another owner, by a claim"],
    ["no", any({ repository: "evil/x" }), "another owner's repository, by a claim"],
    ["no", { subjectPattern: "repo:acme/.*:ref:refs/heads/.*" }, "branches"],
    ["no", { subjectPattern: "repo:acme/.*", claims: { event_name: "push" } }, "another event"],
    ["no", { subjectPattern: "repo:acme/.*", claimPatterns: { environment: ".*" } }, "they have no environment"],
    ["no", any({ sub: "repo:evil/x:pull_request" }), "the subject by a claim"],
    ["no", { issuer: "https://gitlab.com", subjectPattern: ".*" }, "another issuer"],
    ["undecided", { subjectPattern: "(?=x)" }, "a pattern that cannot be read"],
    ["undecided", { subject: undefined }, "a subject that is not known"],
    ["yes", any({ __proto__: null, audience: "x" }), "names that objects have"],
    [
      "no",
      JSON.parse('{ "subjectPattern": ".*", "claims": { "__proto__": "x", "repository": "evil/x" } }'),
      "the same",
    ],
  ])("%s: %j, %s", (expected, match) => expect(answer(assumedBy(match))).toBe(expected));

  test("an example has the claims that the identity asks for", () => {
    const relationship = assumedBy({ subjectPattern: "repo:[a-z]+/charts.+", claims: { repository: "acme/charts" } });
    expect(canBeAssumedBy(relationship, workloadsOf(pulls))).toEqual({
      is: "yes",
      example: { iss: GITHUB, sub: "repo:acme/charts:pull_request", repository: "acme/charts" },
    });
  });
});

describe("an example is a subject that a reader believes", () => {
  const gitlab = presets.gitlab.relationship({ project: "acme/*", branch: "*" }) as unknown as Json;
  const [PULLS, BRANCHES] = ["repo:acme/[^/:]*:pull_request", "project_path:acme/[^/:]*:ref_type:branch:ref:.*"];
  test.each<[string, string, Json]>([
    ["repo:acme/images:pull_request", PULLS, pulls],
    ["repo:acme/:pull_request", "repo:acme/:pull_request", pulls],
    ["project_path:acme/images:ref_type:branch:ref:main", BRANCHES, gitlab],
  ])("%s", (sub, subjectPattern, workload) => {
    const issuer = workload === gitlab ? "https://gitlab.com" : GITHUB;
    const found = canBeAssumedBy(assumedBy({ issuer, subjectPattern }), workloadsOf(workload));
    expect(found).toMatchObject({ is: "yes", example: { sub } });
  });
});

describe("other workloads", () => {
  const branch = presets.github.relationship({ repository: "acme/x", branch: "main" }) as unknown as Json;
  const roleOf = (name: string): Json =>
    presets.aws.relationship({ account: "123456789012", role: name }) as unknown as Json;
  const role = roleOf("build");
  const keys: Json = { staticKeys: { issuer: "https://a.example", subject: "s", issuerKeys: "{}" } };
  test.each<[string, string, Json | null, Json]>([
    ["yes", "a branch, by its claims", assumedBy(any({ ref: "refs/heads/main" })), branch],
    ["no", "a tag, for a branch", assumedBy(any({ ref: "refs/tags/v1" })), branch],
    ["no", "a pull request, for a branch", assumedBy(any({ event_name: "pull_request" })), branch],
    ["yes", "a role", role, role],
    ["no", "another role", roleOf("other"), role],
    ["no", "a token, for a role", branch, role],
    ["no", "a key of the identity's own", keys, branch],
    ["yes", "the holder of the key", keys, keys],
    ["undecided", "nothing is known of the identity", null, branch],
  ])("%s: %s", (expected, _, relationship, workload) => expect(answer(relationship, workload)).toBe(expected));
});
