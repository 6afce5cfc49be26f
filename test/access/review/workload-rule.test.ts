// The rules about who can assume an identity: each fires on what the change brings, and not on what was there.
import { expect, test } from "vitest";
import { BUILT_IN_ROLE_CAPABILITIES, type Json } from "../../../schema/index.ts";
import { valuesOf } from "../../support/rows.ts";
import { addIdentity, addRole, bind, changed, ROOT } from "../graphs.ts";
import {
  type Change,
  CI,
  exactly,
  findings,
  foundSubjects,
  GITHUB,
  give,
  NEW,
  start,
  TEAM,
  withClaimMatch,
} from "./rules.ts";

const GITLAB = "https://gitlab.com";
const BUILDKITE = "https://agent.buildkite.com";
const exact = (subject: string, issuer = GITHUB) => ({ issuer, subject });
const pattern = (subjectPattern: string, issuer = GITHUB) => ({ issuer, subjectPattern });

const many = `matches-many ${CI}`;
test.each(
  valuesOf<[boolean, string, Json]>(
    "y-y",
    String.raw`
      true | any repository of an owner | { subjectPattern: "repo:acme/.*:ref:refs/heads/main" }
      true | any branch | { subjectPattern: "repo:acme/images:ref:refs/heads/.*" }
      true | two branches | { subjectPattern: "repo:acme/images:ref:refs/heads/(main|next)" }
      true | any issuer | { issuer: ~, issuerPattern: "https://.*", subject: ci }
      true | a syntax that nobody reads | { subjectPattern: "(?=x)" }
      true | a repository and the branch of a workflow that it calls
        | { subjectPattern: ".*", claims: { repository: acme/images, job_workflow_ref: acme/ci/x.yml@refs/heads/main } }
      true | a repository alone | { subjectPattern: ".*", claims: { repository: acme/images } }
      true | any owner's number | { subjectPattern: "repo:acme@[0-9]+/images@2:ref:refs/heads/main" }
      true | two repositories, with their numbers | { subjectPattern: "repo:acme@1/images@[23]:pull_request" }
      true | a branch in any case | { subjectPattern: "(?i)repo:acme/images:ref:refs/heads/main" }
      false | one text, as a pattern | { subjectPattern: "repo:acme/images:ref:refs/heads/(?:main)" }
      false | one text twice | { subjectPattern: '\Qrepo:a/b:ref:refs/heads/main\E|repo:a/b:ref:refs/heads/[m]ain' }
      false | one repository and branch, with numbers or not | { subjectPattern: "repo:acme(?:@1)?/images(?:@2)?:ref:refs/heads/main" }
      false | repository and branch as claims | { subjectPattern: ".*", claims: { repository: acme/images, ref: refs/heads/main } }
      false | one pipeline and branch, whatever the commit and the step
        | { subjectPattern: "organization:acme:pipeline:p:ref:refs/heads/main:commit:[0-9a-f]+:step:[^:]*" }
      `,
  ),
)("matches-many fires: %s, on %s", (fires, _, own) => {
  const { issuer, ...claimMatch } = { issuer: GITHUB, ...own };
  const match = issuer === null ? claimMatch : { issuer, ...claimMatch };
  expect(foundSubjects(start(), withClaimMatch(match)).includes(many)).toBe(fires);
});

test("matches-many is silent on a pattern that was there, and on an AWS role whatever its session", () => {
  expect(foundSubjects(start(pattern("repo:acme/.*")), give("viewer"))).toEqual([]);
  const assumedAs =
    (arnPattern: string): Change =>
    (graph) => {
      const relationship = { awsIdentity: { awsAccount: "123456789012", arnPattern, userIdPattern: ".*" } };
      graph.identities.set(CI, { id: CI, uid: CI, name: "ci", group: ROOT, relationship });
    };
  const role = "arn:aws:sts::123456789012:assumed-role/deploy/.*";
  expect(foundSubjects(start(), assumedAs(role))).not.toContain(many);
  expect(foundSubjects(start(), assumedAs("arn:aws:sts::123456789012:.*"))).toContain(many);
});

const evil = exact("repo:evil/images:ref:refs/heads/main");
test("assumed-by-others fires on another owner, without a change of what it can do", () => {
  const message = 'others can assume it now: the owner "evil"';
  expect(findings(start(), withClaimMatch(evil))).toEqual([
    { rule: "assumed-by-others", subject: CI, name: "ci", message },
  ]);
});
test("assumed-by-others fires when another owner's replaces it, and is silent on a new identity", () => {
  const add: Change = (graph) => addIdentity(graph, NEW, "ci", ROOT, evil);
  const replace: Change = (graph) => {
    graph.identities.delete(CI);
    add(graph);
  };
  const hide: Change = (graph) => {
    graph.identities.delete(CI);
    addIdentity(graph, `${NEW}-harmless`, "ci", ROOT, exactly);
    add(graph);
  };
  for (const change of [replace, hide])
    expect(foundSubjects(start(), change)).toEqual(["assumed-by-others ci", `identity-replaced ${CI}`]);
  expect(foundSubjects(start(), (graph) => addIdentity(graph, NEW, "next", ROOT, evil))).toEqual([]);
});
test("assumed-by-others is silent on another repository of the owner, and fires on an undecided pattern", () => {
  const undecided = pattern("repo:(a|/|:)*a(a|/|:){25}.*");
  expect(foundSubjects(start(), withClaimMatch(exact("repo:acme/charts:ref:refs/heads/main")))).toEqual([]);
  expect(foundSubjects(start(), withClaimMatch(undecided))).toContain(`assumed-by-others ${CI}`);
});

test("matches-everyone fires on a pattern that leaves the owner open, also of a new identity", () => {
  const open = pattern("repo:[^/]+/images:ref:refs/heads/main");
  expect(findings(start(), (graph) => addIdentity(graph, NEW, "next", ROOT, open))[0]).toEqual({
    rule: "matches-everyone",
    subject: "next",
    name: "next",
    message: 'can be assumed by every owner of GitHub, such as "someone-else"',
  });
  expect(foundSubjects(start(open), give("viewer"))).toEqual([]);
});
test("matches-everyone fires on a pattern that cannot be decided", () => {
  expect(findings(start(), withClaimMatch(pattern("(?=x)")))).toContainEqual(
    expect.objectContaining({
      rule: "matches-everyone",
      message: "can be assumed by perhaps everyone: its patterns cannot be decided",
    }),
  );
});

test("new-issuer fires on an issuer that no identity trusts, and is silent on one that another identity trusts", () => {
  const other = { issuer: "https://gitlab.example.com", subject: "x" };
  expect(foundSubjects(start(), withClaimMatch(other))).toContain(`new-issuer ${CI}`);
  expect(foundSubjects(start(other), withClaimMatch({ ...exactly, subject: "y" }))).not.toContain(`new-issuer ${CI}`);
});
test("new-issuer is silent on a pattern of trusted issuers alone, and fires on one that matches another", () => {
  const before = start({ issuer: "https://gitlab.example.com", subject: "x" });
  const foundWith = (issuerPattern: string) => foundSubjects(before, withClaimMatch({ issuerPattern, subject: "x" }));
  expect(foundWith("https://gitlab\\.example\\.com")).not.toContain(`new-issuer ${CI}`);
  expect(foundWith("https://gitlab.example\\.com")).toContain(`new-issuer ${CI}`);
});
const key = (n: string, more?: Json) => ({ kty: "RSA", n, e: "AQAB", ...more });
const keySet = (...keys: Json[]) => JSON.stringify({ keys });
const signedBy =
  (issuerKeys: string, own: Json = {}, id = CI): Change =>
  (graph) => {
    const staticKeys = { issuer: GITHUB, subject: "x", issuerKeys, ...own };
    graph.identities.set(id, { id, uid: id, name: "ci", group: ROOT, relationship: { staticKeys } });
  };
const newIssuer = `new-issuer ${CI}`;
const [one, other] = [key("one"), key("other")];
const signed = changed(start(), signedBy(keySet(one)));

test("new-issuer of static keys fires on a key that no identity has, although the issuer is known, and says which", () => {
  expect(findings(start(), signedBy(keySet(one)))).toContainEqual({
    rule: "new-issuer",
    subject: CI,
    name: "ci",
    message: `trusts a key that no identity trusts now: issuer ${GITHUB}, key set with SHA-256 26176dc5fc471800…`,
  });
  for (const keys of [keySet(other), keySet(one, other), keySet(key("one", { N: "other" }))])
    expect(foundSubjects(signed, signedBy(keys)), keys).toContain(newIssuer);
});
test("new-issuer of static keys is silent on the same key: with another end or subject, in a smaller set, of a new identity", () => {
  const before = changed(start(), signedBy(keySet(one, other)));
  for (const [keys, own, id] of [
    [keySet(one, other), { expirationTime: "2027-01-01T00:00:00Z" }],
    [keySet(one, other), { subject: "y" }],
    [keySet(other)],
    [JSON.stringify({ keys: [other, one] }, null, 2)],
    [keySet(one), {}, NEW],
  ] as [string, Json?, string?][]) {
    const silent = foundSubjects(before, signedBy(keys, own, id)).filter((text) => text.includes("issuer"));
    expect(silent, keys).toEqual([]);
  }
});
test.each([
  [
    "a key set is named twice: parsers differ in which one they take",
    `{"keys":[${JSON.stringify(other)}],"keys":[${JSON.stringify(one)}]}`,
  ],
  [
    "a second member of the set, which a parser that ignores case takes",
    `{"keys":[${JSON.stringify(one)}],"Keys":[${JSON.stringify(other)}]}`,
  ],
  ["text that is not JSON", "-----BEGIN PUBLIC KEY-----"],
  ["an empty set", keySet()],
])("new-issuer of static keys fires where it cannot tell the keys: %s", (_, keys) => {
  expect(foundSubjects(signed, signedBy(keys))).toContain(newIssuer);
});
test("new-issuer of static keys fires on the key of another issuer, and on an issuer that only signs for a key", () => {
  const gitlab = { issuer: "https://gitlab.example.com" };
  const before = changed(start(), signedBy(keySet(one), gitlab));
  expect(foundSubjects(before, signedBy(keySet(one)))).toContain(newIssuer);
  expect(foundSubjects(before, withClaimMatch({ ...gitlab, subject: "x" }))).toContain(newIssuer);
});

const pull = exact("repo:acme/images:pull_request");
const found = `pull-request-writes ${CI}`;
test("pull-request-writes fires when a pull request gains a right to write, not on what was there", () => {
  expect(foundSubjects(start(pull), give("publisher"))).toEqual([found]);
  expect(foundSubjects(changed(start(pull), give("publisher")), give("viewer"))).toEqual([]);
});
test("pull-request-writes is silent on the whole of viewer, which also uses functions that change no record", () => {
  const viewer = [...(BUILT_IN_ROLE_CAPABILITIES.viewer ?? [])];
  expect(viewer).toContain("guardener.dfc.convert");
  const holds =
    (...more: string[]): Change =>
    (graph) =>
      bind(graph, TEAM, CI, addRole(graph, "viewer", [...viewer, ...more]));
  expect(foundSubjects(start(pull), holds())).toEqual([]);
  expect(foundSubjects(start(pull), holds("skills.publish"))).toEqual([found]);
  expect(foundSubjects(start(pull), holds("CAP_NEW_THINGS_RUN"))).toContain(found);
});
const OPENING = `
    true | the subject of pull requests | { subject: "repo:acme/images:pull_request" }
    true | the same with numbers | { subject: "repo:acme@1/images@2:pull_request" }
    false | another subject with numbers | { subject: "repo:acme@1/images@2:ref:refs/heads/main" }
    true | pull requests of an owner with and without a number
      | { subjectPattern: "repo:acme(?:@1)?/[^/:]*(?:@[0-9]+)?:pull_request" }
    true | a pattern that matches it among others | { subjectPattern: "repo:acme/images:.*" }
    true | one of two alternatives | { subjectPattern: "repo:acme/images:(ref:refs/heads/main|pull_request)" }
    true | the claim event_name | { subjectPattern: ".*", claims: { event_name: pull_request } }
    false | another event | { subjectPattern: ".*", claims: { event_name: push } }
    false | a branch | { subjectPattern: "repo:acme/.*:ref:refs/heads/main" }
    true | any case | { subjectPattern: "(?i)REPO:Team/App:.*" }
    true | a dot for the colon | { subjectPattern: "repo:acme/charts.pull_request" }
    true | a branch of the workflow that it calls
      | { subjectPattern: ".*", claims: { job_workflow_ref: acme/ci/.github/workflows/x.yml@refs/heads/main } }
    false | the branch of the job | { subjectPattern: ".*", claims: { ref: refs/heads/main } }
    true | a template that begins with the owner | { subjectPattern: "repository_owner:acme:.*" }
    true | a template without the event | { subject: "repo:acme/x:job_workflow_ref:acme/ci/x.yml@v1" }
    true | the review of a pull request | { subjectPattern: "repo:acme/x:ref:refs/pull/.*" }
    false | an environment of that name | { subject: "repo:acme/x:environment:prod" }
    true | any environment | { subjectPattern: "repo:acme/x:environment:.*" }
    false | one environment, as a claim | { subjectPattern: ".*", claims: { environment: prod } }
    true | the event on the base | { subjectPattern: ".*", claims: { event_name: pull_request_target } }
    false | a branch of GitLab | { issuer: ${GITLAB}, subject: "project_path:acme/x:ref_type:branch:ref:main" }
    true | any branch of GitLab | { issuer: ${GITLAB}, subjectPattern: "project_path:acme/x:ref_type:branch:ref:.*" }
    false | a protected branch of GitLab
      | { issuer: ${GITLAB}, subjectPattern: "project_path:acme/x:ref_type:branch:ref:.*", claims: { ref_protected: "true" } }
    true | merge requests of GitLab | { issuer: ${GITLAB}, subjectPattern: ".*", claims: { pipeline_source: merge_request_event } }
    true | a project of GitLab | { issuer: ${GITLAB}, subject: "project_path:acme/x" }
    false | a branch of Buildkite | { issuer: ${BUILDKITE}, subjectPattern: "organization:acme:pipeline:x:ref:refs/heads/main:.*" }
    true | any branch of Buildkite | { issuer: ${BUILDKITE}, subjectPattern: "organization:acme:pipeline:x:.*" }
    false | an account of Google | { issuer: https://accounts.google.com, subjectPattern: "[0-9]+" }
    true | a pattern that takes too long to decide | { subjectPattern: "repo:(a|/|:)*a(a|/|:){25}.*" }
  `;
test.each(valuesOf<[boolean, string, Json]>("y-y", OPENING))(
  "pull-request-writes fires: %s, on opening: %s",
  (fires, _, own) => {
    const before = changed(start(), give("publisher"));
    expect(foundSubjects(before, withClaimMatch({ issuer: GITHUB, ...own })).includes(found)).toBe(fires);
  },
);
