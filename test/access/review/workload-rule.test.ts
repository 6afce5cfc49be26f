// The rules about who can assume an identity: each fires on what the change brings, and not on what was there.
import { describe, expect, test } from "vitest";
import type { GraphBuilder, RoleNode } from "../../../access/graph/graph.ts";
import { BUILT_IN_ROLE_CAPABILITIES, type Json } from "../../../schema/index.ts";
import { addIdentity, bind, ROOT } from "../graphs.ts";
import { CI, exactly, findings, foundSubjects, GITHUB, NEW, role, start, TEAM, withClaimMatch } from "./rules.ts";

const GITLAB = "https://gitlab.com";
const BUILDKITE = "https://agent.buildkite.com";
const exact = (subject: string, issuer = GITHUB) => ({ issuer, subject });
const pattern = (subjectPattern: string, issuer = GITHUB) => ({ issuer, subjectPattern });
const anyWith = (claims: Json) => ({ ...pattern(".*"), claims });

describe("matches-many", () => {
  test.each([
    ["any repository of an owner", pattern("repo:acme/.*:ref:refs/heads/main")],
    ["any branch", pattern("repo:acme/images:ref:refs/heads/.*")],
    ["two branches", pattern("repo:acme/images:ref:refs/heads/(main|next)")],
    ["any issuer", { issuerPattern: "https://.*", subject: "ci" }],
    ["a syntax that nobody reads", pattern("(?=x)")],
    [
      "any subject, with a repository and the branch of a workflow that it calls",
      anyWith({ repository: "acme/images", job_workflow_ref: "acme/ci/x.yml@refs/heads/main" }),
    ],
    ["any subject, with a repository alone", anyWith({ repository: "acme/images" })],
    ["any owner's number", pattern("repo:acme@[0-9]+/images@2:ref:refs/heads/main")],
    ["two repositories, with their numbers", pattern("repo:acme@1/images@[23]:pull_request")],
    ["a branch in any case", pattern("(?i)repo:acme/images:ref:refs/heads/main")],
  ])("fires on %s", (_, claimMatch) => {
    expect(foundSubjects(start(), withClaimMatch(claimMatch))).toContain(`matches-many ${CI}`);
  });
  test.each([
    ["one text, as a pattern", pattern("repo:acme/images:ref:refs/heads/(?:main)")],
    ["one text by other means", pattern("\\Qrepo:a/b:ref:refs/heads/main\\E|repo:a/b:ref:refs/heads/[m]ain")],
    [
      "one repository and branch, with its numbers and without",
      pattern("repo:acme(?:@1)?/images(?:@2)?:ref:refs/heads/main"),
    ],
    ["repository and branch as claims", anyWith({ repository: "acme/images", ref: "refs/heads/main" })],
    [
      "one pipeline and branch, whatever the commit and the step",
      pattern("organization:acme:pipeline:p:ref:refs/heads/main:commit:[0-9a-f]+:step:[^:]*"),
    ],
  ])("is silent on %s", (_, claimMatch) => {
    expect(foundSubjects(start(), withClaimMatch(claimMatch))).not.toContain(`matches-many ${CI}`);
  });
  test("is silent on a pattern that was there, and on an AWS role whatever its session", () => {
    const before = start(pattern("repo:acme/.*"));
    expect(foundSubjects(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    const aws = {
      awsAccount: "123456789012",
      arnPattern: "arn:aws:sts::123456789012:assumed-role/deploy/.*",
      userIdPattern: ".*",
    };
    const use = (awsIdentity: Json) => (graph: GraphBuilder) =>
      void graph.identities.set(CI, { id: CI, uid: CI, name: "ci", group: ROOT, relationship: { awsIdentity } });
    const many = `matches-many ${CI}`;
    expect(foundSubjects(start(), use(aws))).not.toContain(many);
    expect(foundSubjects(start(), use({ ...aws, arnPattern: "arn:aws:sts::123456789012:.*" }))).toContain(many);
  });
});

describe("assumed-by-others", () => {
  const evil = exact("repo:evil/images:ref:refs/heads/main");
  test("fires on another owner, without a change of what it can do", () => {
    expect(findings(start(), withClaimMatch(evil))).toEqual([
      {
        rule: "assumed-by-others",
        subject: CI,
        name: "ci",
        message: 'others can assume it now: the owner "evil"',
      },
    ]);
  });
  test("fires when the identity is replaced by one of another owner, and is silent on a new identity", () => {
    const replace = (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, NEW, "ci", ROOT, evil);
    };
    expect(foundSubjects(start(), replace)).toEqual(["assumed-by-others ci", `identity-replaced ${CI}`]);
    expect(foundSubjects(start(), (graph) => void addIdentity(graph, NEW, "next", ROOT, evil))).toEqual([]);
  });
  test("fires when a harmless identity of the same name is created beside the other one", () => {
    const replace = (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, `${NEW}-harmless`, "ci", ROOT, exactly);
      addIdentity(graph, NEW, "ci", ROOT, evil);
    };
    expect(foundSubjects(start(), replace)).toEqual(["assumed-by-others ci", `identity-replaced ${CI}`]);
  });
  test("fires on another owner by number alone", () => {
    const of = (owner: number) => exact(`repo:acme@${owner}/images@2:ref:refs/heads/main`);
    expect(foundSubjects(start(of(1)), withClaimMatch(of(9)))).toContain(`assumed-by-others ${CI}`);
    expect(foundSubjects(start(of(1)), withClaimMatch({ ...of(1), subject: "repo:acme@1/x@3:pull_request" }))).toEqual(
      [],
    );
  });
  test("is silent on another repository of the owner, and fires on a pattern that cannot be decided", () => {
    expect(foundSubjects(start(), withClaimMatch(exact("repo:acme/charts:ref:refs/heads/main")))).toEqual([]);
    expect(foundSubjects(start(), withClaimMatch(pattern("repo:(a|/|:)*a(a|/|:){25}.*")))).toContain(
      `assumed-by-others ${CI}`,
    );
  });
});

describe("matches-everyone", () => {
  test("fires on a pattern that leaves the owner open, also of a new identity", () => {
    const open = pattern("repo:[^/]+/images:ref:refs/heads/main");
    const add = (graph: GraphBuilder) => void addIdentity(graph, NEW, "next", ROOT, open);
    expect(findings(start(), add)[0]).toEqual({
      rule: "matches-everyone",
      subject: "next",
      name: "next",
      message: 'can be assumed by every owner of GitHub, such as "someone-else"',
    });
    const before = start(open);
    expect(foundSubjects(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
  });
  test("fires on a pattern that cannot be decided", () => {
    expect(findings(start(), withClaimMatch(pattern("(?=x)")))).toContainEqual(
      expect.objectContaining({
        rule: "matches-everyone",
        message: "can be assumed by perhaps everyone: its patterns cannot be decided",
      }),
    );
  });
});

describe("new-issuer", () => {
  test("fires on an issuer that no identity trusts, and is silent on one that another identity trusts", () => {
    const other = { issuer: "https://gitlab.example.com", subject: "x" };
    expect(foundSubjects(start(), withClaimMatch(other))).toContain(`new-issuer ${CI}`);
    expect(foundSubjects(start(other), withClaimMatch({ ...exactly, subject: "y" }))).not.toContain(`new-issuer ${CI}`);
  });
  test("is silent on a pattern that matches trusted issuers alone, and fires on one that matches another", () => {
    const before = start({ issuer: "https://gitlab.example.com", subject: "x" });
    const foundWith = (issuerPattern: string) => foundSubjects(before, withClaimMatch({ issuerPattern, subject: "x" }));
    expect(foundWith("https://gitlab\\.example\\.com")).not.toContain(`new-issuer ${CI}`);
    expect(foundWith("https://gitlab.example\\.com")).toContain(`new-issuer ${CI}`);
  });
  describe("of static keys", () => {
    const key = (n: string, more?: Json) => ({ kty: "RSA", n, e: "AQAB", ...more });
    const keySet = (...keys: Json[]) => JSON.stringify({ keys });
    const signedBy =
      (issuerKeys: string, own: Json = {}, id = CI) =>
      (graph: GraphBuilder): GraphBuilder => {
        const staticKeys = { issuer: GITHUB, subject: "x", issuerKeys, ...own };
        graph.identities.set(id, { id, uid: id, name: "ci", group: ROOT, relationship: { staticKeys } });
        return graph;
      };
    const found = `new-issuer ${CI}`;
    const [one, other] = [key("one"), key("other")];

    test("fires on a key that no identity has, although the issuer is known, and says which", () => {
      expect(findings(start(), (graph) => void signedBy(keySet(one))(graph))).toContainEqual({
        rule: "new-issuer",
        subject: CI,
        name: "ci",
        message: `trusts a key that no identity trusts now: issuer ${GITHUB}, key set with SHA-256 26176dc5fc471800…`,
      });
      const before = signedBy(keySet(one))(start());
      for (const keys of [keySet(other), keySet(one, other), keySet(key("one", { N: "other" }))])
        expect(
          foundSubjects(before, (graph) => void signedBy(keys)(graph)),
          keys,
        ).toContain(found);
    });
    test("is silent on the same key: with another end or subject, in a smaller set, spelt with spaces, of a new identity", () => {
      const before = signedBy(keySet(one, other))(start());
      const change = (keys: string, own?: Json, id?: string) =>
        foundSubjects(before, (graph) => void signedBy(keys, own, id)(graph)).filter((text) => text.includes("issuer"));
      expect(change(keySet(one, other), { expirationTime: "2027-01-01T00:00:00Z" })).toEqual([]);
      expect(change(keySet(one, other), { subject: "y" })).toEqual([]);
      expect(change(keySet(other))).toEqual([]);
      expect(change(JSON.stringify({ keys: [other, one] }, null, 2))).toEqual([]);
      expect(change(keySet(one), {}, NEW)).toEqual([]);
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
    ])("fires where it cannot tell the keys: %s", (_, keys) => {
      const before = signedBy(keySet(one))(start());
      expect(foundSubjects(before, (graph) => void signedBy(keys)(graph))).toContain(found);
    });
    test("fires on the key of another issuer, and on an issuer that only signs for a key", () => {
      const gitlab = { issuer: "https://gitlab.example.com" };
      const before = signedBy(keySet(one), gitlab)(start());
      expect(foundSubjects(before, (graph) => void signedBy(keySet(one))(graph))).toContain(found);
      expect(foundSubjects(before, withClaimMatch({ ...gitlab, subject: "x" }))).toContain(found);
    });
  });
});

describe("pull-request-writes", () => {
  const pull = exact("repo:acme/images:pull_request");
  test("fires when what a pull request can assume gains a right to write", () => {
    expect(foundSubjects(start(pull), (graph) => bind(graph, TEAM, CI, role("publisher")))).toEqual([
      `pull-request-writes ${CI}`,
    ]);
  });
  test("is silent on the whole of viewer, which also uses functions that change no record", () => {
    const viewer = [...(BUILT_IN_ROLE_CAPABILITIES.viewer ?? [])];
    expect(viewer).toContain("guardener.dfc.convert");
    const holds = (capabilities: readonly string[]) => (graph: GraphBuilder) => {
      const node = graph.roles.get(role("viewer")) as RoleNode;
      graph.roles.set(node.id, { ...node, capabilities });
      bind(graph, TEAM, CI, node.id);
    };
    expect(foundSubjects(start(pull), holds(viewer))).toEqual([]);
    expect(foundSubjects(start(pull), holds([...viewer, "skills.publish"]))).toEqual([`pull-request-writes ${CI}`]);
    expect(foundSubjects(start(pull), holds([...viewer, "CAP_NEW_THINGS_RUN"]))).toContain(`pull-request-writes ${CI}`);
  });
  test("is silent on rights to list and get, and on what was there", () => {
    expect(foundSubjects(start(pull), (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    const before = start(pull);
    bind(before, TEAM, CI, role("publisher"));
    expect(foundSubjects(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
  });
  test.each([
    ["the subject of pull requests", pull, true],
    ["the same with numbers", exact("repo:acme@1/images@2:pull_request"), true],
    ["another subject with numbers", exact("repo:acme@1/images@2:ref:refs/heads/main"), false],
    [
      "pull requests of an owner with and without a number",
      pattern("repo:acme(?:@1)?/[^/:]*(?:@[0-9]+)?:pull_request"),
      true,
    ],
    ["a pattern that matches it among others", pattern("repo:acme/images:.*"), true],
    ["one of two alternatives", pattern("repo:acme/images:(ref:refs/heads/main|pull_request)"), true],
    ["the claim event_name", anyWith({ event_name: "pull_request" }), true],
    ["another event", anyWith({ event_name: "push" }), false],
    ["a branch", pattern("repo:acme/.*:ref:refs/heads/main"), false],
    ["any case", pattern("(?i)REPO:Team/App:.*"), true],
    ["any case of a branch", pattern("(?i)repo:team/app:ref:refs/heads/.*"), false],
    ["a named class", pattern("repo:team/app:[[:word:]]+"), true],
    ["a branch of a named class", pattern("repo:team/app:ref:refs/heads/[[:alpha:]]+"), false],
    ["a quotation", pattern(String.raw`\Qrepo:team/app:\E.*`), true],
    ["codes of characters", pattern(String.raw`repo\x3ateam/app\x{3a}pull\137.*`), true],
    ["a class of Unicode", pattern(String.raw`repo:team/app:\p{Ll}+_request`), true],
    ["a dot for the colon", pattern("repo:acme/charts.pull_request"), true],
    [
      "a branch of the workflow that it calls",
      anyWith({ job_workflow_ref: "acme/ci/.github/workflows/x.yml@refs/heads/main" }),
      true,
    ],
    ["the branch of the job", anyWith({ ref: "refs/heads/main" }), false],
    ["a template that begins with the owner", pattern("repository_owner:acme:.*"), true],
    ["a template without the event", exact("repo:acme/x:job_workflow_ref:acme/ci/x.yml@v1"), true],
    ["the review of a pull request", pattern("repo:acme/x:ref:refs/pull/.*"), true],
    ["an environment of that name", exact("repo:acme/x:environment:prod"), false],
    ["any environment", pattern("repo:acme/x:environment:.*"), true],
    ["one environment, as a claim", anyWith({ environment: "prod" }), false],
    ["the event on the base", anyWith({ event_name: "pull_request_target" }), true],
    ["a branch of GitLab", exact("project_path:acme/x:ref_type:branch:ref:main", GITLAB), false],
    ["any branch of GitLab", pattern("project_path:acme/x:ref_type:branch:ref:.*", GITLAB), true],
    [
      "a protected branch of GitLab",
      {
        issuer: GITLAB,
        subjectPattern: "project_path:acme/x:ref_type:branch:ref:.*",
        claims: { ref_protected: "true" },
      },
      false,
    ],
    [
      "merge requests of GitLab",
      { issuer: GITLAB, subjectPattern: ".*", claims: { pipeline_source: "merge_request_event" } },
      true,
    ],
    ["a project of GitLab", exact("project_path:acme/x", GITLAB), true],
    ["a branch of Buildkite", pattern("organization:acme:pipeline:x:ref:refs/heads/main:.*", BUILDKITE), false],
    ["any branch of Buildkite", pattern("organization:acme:pipeline:x:.*", BUILDKITE), true],
    ["an account of Google", { issuer: "https://accounts.google.com", subjectPattern: "[0-9]+" }, false],
    ["a pattern that takes too long to decide", pattern("repo:(a|/|:)*a(a|/|:){25}.*"), true],
    ["the absence of a class of Unicode", pattern(String.raw`repo:team/app:[^\p{Lu}]+`), true],
  ])("opening an identity that writes: %s", (_, claimMatch, fires) => {
    const before = start();
    bind(before, TEAM, CI, role("publisher"));
    expect(foundSubjects(before, withClaimMatch(claimMatch)).includes(`pull-request-writes ${CI}`)).toBe(fires);
  });
});
