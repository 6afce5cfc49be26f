// Which workloads can assume an identity, and what differs between a token and an identity: a real server agrees.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Budget } from "../../../access/pattern/budget.ts";
import { countTexts } from "../../../access/pattern/decide.ts";
import { presets } from "../../../access/preset/presets.ts";
import { breadthOf, othersIn } from "../../../access/workload/breadth.ts";
import { type ClaimCheck, compareClaims } from "../../../access/workload/claims.ts";
import { everyoneIn, openPatternsIn } from "../../../access/workload/open-pattern.ts";
import { pullRequestsIn } from "../../../access/workload/pull-request.ts";
import { tokensOf } from "../../../access/workload/token.ts";
import { canBeAssumedBy, workloadsOf } from "../../../access/workload/workload.ts";
import type { Json } from "../../../schema/index.ts";
import { root } from "../../harness/api-process.ts";
import { serve } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import { payloadOf } from "../../harness/sts.ts";

const GITHUB = "https://token.actions.githubusercontent.com";
const assumedBy = (match: Json): Json => ({ claimMatch: { issuer: GITHUB, ...match } });
const pulls = presets.github.relationship({ repository: "acme/*", event: "pull_request" }) as unknown as Json;
const answer = (relationship: Json | null, workload: Json = pulls) =>
  canBeAssumedBy(relationship, workloadsOf(workload)).is;

const any = (claims: Json): Json => ({ subjectPattern: ".*", claims });

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
  ["no", JSON.parse('{ "subjectPattern": ".*", "claims": { "__proto__": "x", "repository": "evil/x" } }'), "the same"],
])("the pull requests of an owner, %s: %j, %s", (expected, match) => expect(answer(assumedBy(match))).toBe(expected));

test("the pull requests of an owner, an example has the claims that the identity asks for", () => {
  const relationship = assumedBy({ subjectPattern: "repo:[a-z]+/charts.+", claims: { repository: "acme/charts" } });
  expect(canBeAssumedBy(relationship, workloadsOf(pulls))).toEqual({
    is: "yes",
    example: { iss: GITHUB, sub: "repo:acme/charts:pull_request", repository: "acme/charts" },
  });
});

const ofProjects = presets.gitlab.relationship({ project: "acme/*", branch: "*" }) as unknown as Json;
const [PULLS, BRANCHES] = ["repo:acme/[^/:]*:pull_request", "project_path:acme/[^/:]*:ref_type:branch:ref:.*"];
test.each<[string, string, Json]>([
  ["repo:acme/images:pull_request", PULLS, pulls],
  ["repo:acme/:pull_request", "repo:acme/:pull_request", pulls],
  ["project_path:acme/images:ref_type:branch:ref:main", BRANCHES, ofProjects],
])("an example is a subject: %s", (sub, subjectPattern, workload) => {
  const issuer = workload === ofProjects ? "https://gitlab.com" : GITHUB;
  const found = canBeAssumedBy(assumedBy({ issuer, subjectPattern }), workloadsOf(workload));
  expect(found).toMatchObject({ is: "yes", example: { sub } });
});

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
])("other workloads, %s: %s", (expected, _, relationship, workload) =>
  expect(answer(relationship, workload)).toBe(expected),
);

const GITLAB = "https://gitlab.com";
const GOOGLE = "https://accounts.google.com";
const CLUSTER = "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B";
const aws = (awsAccount: string): Json => ({ awsIdentity: { awsAccount, arnPattern: "arn:.*", userIdPattern: "A.*" } });
const MAIN = { subject: "repo:acme/shop:ref:refs/heads/main" };

const foundOrNone = (text: string | undefined) => (text === undefined ? { is: "none" } : { is: "found", text });
const main = (repository: string): Json => ({ subject: `repo:${repository}:ref:refs/heads/main` });
const gitlab = (project: string): Json => ({
  ...{ issuer: GITLAB, subject: `project_path:acme/${project}:ref_type:branch:ref:main` },
});
const buildkite = (subjectPattern: string): Json => ({ issuer: "https://agent.buildkite.com", subjectPattern });
const google = (email?: string): Json => ({
  issuer: GOOGLE,
  subjectPattern: "[0-9]+",
  ...(email && { claims: { email } }),
});
const pod = (account: string): Json => ({ issuer: CLUSTER, subject: `system:serviceaccount:${account}` });
const issuedBy = (issuerPattern: string, subject = "x"): Json => ({ issuer: undefined, issuerPattern, subject });

const evil = "a@evil.iam.gserviceaccount.com";
test.each<[string | undefined, Json, Json]>([
  ['the owner "evil"', MAIN, main("evil/shop")],
  ['the owner "acmea"', MAIN, { subjectPattern: "repo:acme.*:ref:refs/heads/main" }],
  ['the owner "evil"', MAIN, { subjectPattern: "repo:(acme|evil)/shop:.*" }],
  [undefined, MAIN, main("acme/charts")],
  [undefined, MAIN, { subjectPattern: "repo:acme/.*" }],
  [undefined, { subjectPattern: "repo:.*" }, MAIN],
  [undefined, MAIN, main("acme@12/shop@9")],
  ['another owner, by number "12"', main("acme@13/shop@9"), main("acme@12/shop@9")],
  ['the issuer "https://x.example"', MAIN, { ...MAIN, issuer: "https://x.example" }],
  [
    `the issuer "${GITLAB}"`,
    MAIN,
    { ...MAIN, ...issuedBy(`${GITHUB}|${GITLAB}`.replaceAll(".", "\\."), MAIN.subject) },
  ],
  [undefined, any({ repository_owner: "acme" }), any({ repository: "acme/x" })],
  ['the owner "evil"', any({ repository_owner: "acme" }), any({ repository: "evil/x" })],
  ['another owner, by repository_owner_id "2"', any({ repository_owner_id: "1" }), any({ repository_owner_id: "2" })],
  ['the subject "job_workflow_ref:acme/x"', MAIN, { subject: "job_workflow_ref:acme/x" }],
  ['the project "acme/charts"', gitlab("images"), gitlab("charts")],
  ['the organization "evil"', buildkite("organization:acme:.*"), buildkite("organization:(acme|evil):.*")],
  ['the account "8"', { issuer: GOOGLE, subject: "7" }, { issuer: GOOGLE, subject: "8" }],
  ['another account, by email "evil.iam.gserviceaccount.com"', google("a@acme.iam.gserviceaccount.com"), google(evil)],
  ['the namespace "dev"', pod("prod:deployer"), pod("dev:deployer")],
  [undefined, pod("prod:deployer"), pod("prod:other")],
])("others than before, %s: from %j to %j", (expected, before, after) => {
  expect(othersIn(assumedBy(before), assumedBy(after))).toEqual(foundOrNone(expected));
});

const keysOf = (subject: string): Json => ({ staticKeys: { issuer: "https://a.example", subject, issuerKeys: "{}" } });
const [one, other] = ["123456789012", "210987654321"];
test.each<[string | undefined, Json, Json]>([
  ["principals of AWS", assumedBy(MAIN), aws(one)],
  [`the account "${other}"`, aws(one), aws(other)],
  [undefined, aws(one), aws(one)],
  ["the holder of another key", keysOf("a"), keysOf("b")],
  [undefined, keysOf("a"), keysOf("a")],
])("another kind, another account and another key are others: %s", (expected, before, after) => {
  expect(othersIn(before, after)).toEqual(foundOrNone(expected));
});

test("others than before, patterns that cannot be read are not decided", () => {
  expect(othersIn(assumedBy(MAIN), assumedBy({ subjectPattern: "(?=x)" }))).toEqual({ is: "undecided" });
  expect(othersIn(assumedBy({ subjectPattern: "(?=x)" }), assumedBy(MAIN))).toEqual({ is: "undecided" });
});

const owners = "every owner of GitHub";
const same = `${owners}, whose subjects can be the same`;
const [hcp, pulumi] = ["https://app.terraform.io", "https://api.pulumi.com/oidc"];
/** Who, and such as whom; undefined: nobody else. */
test.each<[who: string | undefined, Json, example?: string]>([
  [owners, { subjectPattern: "repo:[^/]+/images:ref:refs/heads/main" }],
  [owners, { subjectPattern: "repo:acme.*:ref:refs/heads/main" }, "acmea"],
  [owners, any({ event_name: "push" })],
  [owners, any({ job_workflow_ref: "acme/ci/x.yml@refs/heads/main" })],
  [same, { subject: "environment:prod" }, "environment:prod"],
  [same, { subject: "job_workflow_ref:acme/ci/x.yml@main" }, "job_workflow_ref:acme/ci/x.yml@main"],
  [undefined, MAIN],
  [undefined, { subjectPattern: "repo:acme/.*" }],
  [undefined, { subjectPattern: "(?i)repo:a-long-name-of-an-organization/.*" }],
  [undefined, { subjectPattern: "repo:(acme|other)/.*" }],
  [undefined, any({ repository_owner: "acme" })],
  [undefined, any({ repository: "acme/x" })],
  [undefined, { subjectPattern: ".*", claimPatterns: { repository: "acme/.*" } }],
  [owners, { subjectPattern: ".*", claimPatterns: { repository: ".*/x" } }],
  [undefined, any({ repository_owner_id: "7" })],
  ["every project of GitLab", { issuer: GITLAB, subjectPattern: "project_path:.*:ref:main" }],
  [undefined, { issuer: GITLAB, subjectPattern: "project_path:acme/.*" }],
  [undefined, { issuer: GITLAB, ...any({ namespace_path: "acme" }) }],
  ["every organization of Buildkite", buildkite("organization:.*")],
  [undefined, buildkite("organization:acme:.*")],
  [
    "every organization of HCP Terraform",
    { issuer: hcp, subjectPattern: "organization:.*:project:p:workspace:w:run_phase:apply" },
  ],
  [undefined, { issuer: hcp, subjectPattern: "organization:acme:.*" }],
  ["every organization of Pulumi Cloud", { issuer: pulumi, subjectPattern: "pulumi:deploy:org:.*" }],
  [undefined, { issuer: pulumi, subjectPattern: "pulumi:deploy:org:acme:.*" }],
  ["every organization of Okta", issuedBy("https://[a-z-]+\\.okta\\.com")],
  ["every tenant of Auth0", issuedBy("https://[a-z-]+\\.eu\\.auth0\\.com/")],
  ["every account of Spacelift", issuedBy("https://[a-z-]+\\.app\\.spacelift\\.io")],
  ["every organization of Semaphore", issuedBy("https://[a-z-]+\\.semaphoreci\\.com")],
  ["every account of Google", google(), "1"],
  [undefined, google("a@acme.iam.gserviceaccount.com")],
  ["every cluster of Amazon EKS", issuedBy("https://oidc\\.eks\\.[a-z0-9-]+\\.amazonaws\\.com/id/.*", "system:x")],
  ["anyone who registers a host", issuedBy("https://oidc\\.eks\\..*", "system:serviceaccount:prod:deployer")],
  [undefined, { issuer: CLUSTER, subjectPattern: ".*" }],
  ["anyone who registers a host", issuedBy("https://.*\\.example\\.com")],
  [undefined, issuedBy("https://[a-z]+\\.example\\.com/id/[0-9]+")],
])("everybody: %s: %j", (who, match, example = "someone-else") => {
  expect(everyoneIn(assumedBy(match))).toEqual(foundOrNone(who && `${who}, such as "${example}"`));
});

test("everybody: an unreadable pattern is not decided; no principal of AWS is everybody", () => {
  expect(everyoneIn(assumedBy({ subjectPattern: "(?=x)" }))).toEqual({ is: "undecided" });
  // Other patterns of a policy may have taken all steps: that is no way to hide one.
  const match = { issuer: "https://token.actions.githubusercontent.com", subjectPattern: "repo:.*:pull_request" };
  const texts = (budget?: Budget) => openPatternsIn(match, budget).map(({ path, text }) => `${path} ${text}`);
  expect(texts({ steps: 0 })).toEqual([
    expect.stringMatching(/^subjectPattern may match the workloads of every customer: it takes too many steps/),
  ]);
  expect(texts()).toEqual([expect.stringMatching(/^subjectPattern matches the workloads of every customer/)]);
  expect(openPatternsIn({ issuer: match.issuer, subject: "repo:acme/x:pull_request" }, { steps: 0 })).toEqual([]);
  expect([everyoneIn(aws("123456789012")), everyoneIn(null)]).toEqual([{ is: "none" }, { is: "none" }]);
});

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

const fromPresets = (): Json[] => {
  const of = ["acme/images", "acme/*", "acme@123456/images@456789", "acme/image-*"].flatMap((repository) =>
    ["main", "release/*"].flatMap((ref) => [
      presets.github.relationship({ repository, branch: ref }),
      ...["pull_request", "push"].map((event) => presets.github.relationship({ repository, event })),
      presets.gitlab.relationship({ project: repository.replaceAll(/@\d+/g, ""), tag: ref, protected: true }),
      presets.buildkite.relationship({ organization: "acme", pipeline: "*", branch: ref }),
    ]),
  );
  const clusters = presets.kubernetes.relationship({
    issuer: "https://k.example",
    namespace: "team-*",
    serviceAccount: "*",
  });
  return [
    ...of,
    clusters,
    presets.google.relationship({ email: "*@acme.iam.gserviceaccount.com" }),
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

const api = await serve();

const audiences = [api.authUrl, new URL(api.authUrl).host, api.baseUrl];
const unmet = (checks: readonly ClaimCheck[]): string[] =>
  checks.filter(({ isMet }) => !isMet).map(({ claim }) => claim);

/** The claims that differ, by this comparison; and whether the exchange takes the token. */
const compared = async (match: Json, subject: string, further: Json = {}) => {
  const identity = await createRecord(api, "identities", api.organization, {
    name: "compared",
    claimMatch: { issuer: api.issuer, subject: "s", ...match },
  });
  const token = await api.identityToken(subject, further);
  const checks = compareClaims(identity, { claims: payloadOf(token), audiences, nowMs: api.clock() });
  const { status } = await api.exchange(token, { identity: identity.uid });
  return { unmet: unmet(checks), isTaken: status === 200, checks };
};

const subjectPattern = (pattern: string): Json => ({ subject: undefined, subjectPattern: pattern });

test.each<[string, Json, string, Json, string[]]>([
  ["all as it should be", {}, "s", {}, []],
  ["another subject", {}, "S", {}, ["sub"]],
  ["another issuer", { issuer: "https://issuer.example" }, "s", {}, ["iss"]],
  ["issuer and subject", { issuer: "https://issuer.example" }, "t", {}, ["iss", "sub"]],
  ["a subject that matches", subjectPattern("repo:acme/.*"), "repo:acme/images", {}, []],
  ["a pattern that matches a part only", subjectPattern("acme"), "repo:acme/images", {}, ["sub"]],
  ["an audience for another service", {}, "s", { audience: "https://other.example" }, ["aud"]],
  ["the bare host as audience", {}, "s", { audience: new URL(api.authUrl).host }, []],
  ["an audience of its own", { audience: "irm" }, "s", { audience: "irm" }, []],
  ["not its own audience", { audience: "irm" }, "s", {}, ["aud"]],
  ["an audience that matches", { audiencePattern: "irm-.*" }, "s", { audience: "irm-dev" }, []],
  ["a further claim", { claims: { ref: "main" } }, "s", { claims: { ref: "main" } }, []],
  ["a further claim that differs", { claims: { ref: "main" } }, "s", { claims: { ref: "dev" } }, ["ref"]],
  ["a further claim that is missing", { claims: { ref: "main" } }, "s", {}, ["ref"]],
  ["a truth value", { claims: { protected: "true" } }, "s", { claims: { protected: true } }, []],
  ["a number, which never matches", { claims: { run: "7" } }, "s", { claims: { run: 7 } }, ["run"]],
  ["a list, which never matches", { claimPatterns: { g: ".*" } }, "s", { claims: { g: ["a"] } }, ["g"]],
  ["a claim of every object", { claims: { toString: "x" } }, "s", {}, ["toString"]],
  ["claims that match", { claimPatterns: { ref: "refs/.*" } }, "s", { claims: { ref: "refs/heads/x" } }, []],
])("agrees with the exchange: %s", async (_, match, subject, further, claims) => {
  const { unmet: found, isTaken } = await compared(match, subject, further);
  expect({ found, isTaken }).toEqual({ found: claims, isTaken: claims.length === 0 });
});

test.each<[string, (now: number) => Json, string[]]>([
  ["a token that has ended", (now) => ({ iat: now - 700, exp: now - 61 }), ["exp"]],
  ["one that has just ended", (now) => ({ iat: now - 700, exp: now - 59 }), []],
  ["one that begins later", (now) => ({ nbf: now + 120 }), ["nbf"]],
  ["one of the future", (now) => ({ iat: now + 120, exp: now + 300 }), ["iat"]],
  ["one that lives for too long", (now) => ({ iat: now, exp: now + 25 * 3600 }), ["exp"]],
])("agrees with the exchange: %s", async (_, claims, expected) => {
  const { unmet: found, isTaken } = await compared({}, "s", { claims: claims(Math.floor(api.clock() / 1000)) });
  expect({ found, isTaken }).toEqual({ found: expected, isTaken: expected.length === 0 });
});

const messageOf = async (...given: Parameters<typeof compared>): Promise<string> =>
  (await compared(...given)).checks.flatMap(({ isMet, message }) => (isMet ? [] : message)).join();
const repository = "repo:acme/images:ref:refs/heads/main";
const wanted = 'the identity wants "main" (claimMatch.claims.ref)';

test.each<[Json, subject: string, further: Json, message: string | RegExp]>([
  [{}, "t", {}, 'the token has "t"; the identity wants "s" (claimMatch.subject)'],
  [
    ...([subjectPattern("repo:acme/.*"), "t", {}] as const),
    'the token has "t"; the identity wants a match of "repo:acme/.*" (claimMatch.subjectPattern)',
  ],
  [{ claims: { ref: "main" } }, "s", {}, `the token has no such claim; ${wanted}`],
  [{ claims: { ref: "main" } }, "s", { claims: { ref: 7 } }, `the token has 7, which is not a text; ${wanted}`],
  [{}, "S", {}, /; they differ in upper and lower case only$/],
  [{}, "s/", {}, /; they differ in the slash at the end only$/],
  [
    ...([{ subject: repository }, repository.replace("acme/images", "acme@1/images@2"), {}] as const),
    /; they differ in the numeric ids of the owner and the repository only$/,
  ],
  [{}, "s ", {}, /; they differ in white space at an end only$/],
])("says what differs: of %j and %j with %j", async (match, subject, further, message) => {
  expect(await messageOf(match, subject, further)).toEqual(
    typeof message === "string" ? message : expect.stringMatching(message),
  );
});

test("says what differs: a text with controls is escaped, and a long one is cut", async () => {
  const claims = { ref: `\u001b[2J${"x".repeat(5_000)}` };
  const message = await messageOf({ claims: { ref: "main" } }, "s", { claims });
  expect(message).toContain('"\\u001b[2Jxxx');
  expect(message.length).toBeLessThan(500);
});

const claims = { iss: "https://keys.example", sub: "root", aud: api.authUrl, exp: api.clock() / 1000 + 60 };
const ownKeys = { issuer: "https://keys.example", subject: "root", issuerKeys: "{}" };
const createTime = new Date(api.clock()).toISOString();
const ended = new Date(api.clock() - 1).toISOString();

test.each<[what: string, identity: Json, unmet: string[]]>([
  ["its own keys", { staticKeys: ownKeys, createTime }, []],
  ["keys for another subject", { staticKeys: { ...ownKeys, subject: "other" }, createTime }, ["sub"]],
  ["keys for other audiences", { staticKeys: { ...ownKeys, audiences: ["x"] }, createTime }, ["aud"]],
  ["keys that have ended", { staticKeys: { ...ownKeys, expirationTime: ended }, createTime }, ["expirationTime"]],
  ["keys of more than a year", { staticKeys: ownKeys, createTime: "2020-01-01T00:00:00Z" }, ["expirationTime"]],
  ["a principal of AWS, which has no token", { awsIdentity: { awsAccount: "123456789012" } }, ["awsIdentity"]],
  ["a service, which has no token", { servicePrincipal: "COSIGNED" }, ["servicePrincipal"]],
  ["nothing", {}, ["claimMatch"]],
])("an identity without a claim match: %s", (_, identity, expected) => {
  expect(unmet(compareClaims(identity, { claims, audiences, nowMs: api.clock() }))).toEqual(expected);
});
