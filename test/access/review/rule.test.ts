// Each rule fires on what the change brings, and not on what was there.
import { describe, expect, test } from "vitest";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import type { Finding } from "../../../access/review/report.ts";
import { allowanceFrom, ruleFrom } from "../../../access/review/rules-option.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";

const TEAM = uidIn(ROOT, 1);
const OWNER = uidIn(ROOT, 2);
const CI = uidIn(ROOT, 3);
const GITHUB = "https://token.actions.githubusercontent.com";
const GITLAB = "https://gitlab.com";
const BUILDKITE = "https://agent.buildkite.com";
const ROLES = {
  owner: ["role_bindings.create", "repo.list"],
  viewer: ["repo.list", "apk.blobs.get"],
  publisher: ["repo.create"],
};
const role = (name: keyof typeof ROLES) => name.length.toString(16).padStart(40, "f");
const exactly = { issuer: GITHUB, subject: "repo:acme/images:ref:refs/heads/main" };

/** An organization with an owner, and ci as `claimMatch` has it. */
const start = (claimMatch: Json | undefined = exactly): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ROOT, "dev", null);
  addGroup(graph, TEAM, "team", ROOT);
  for (const [name, capabilities] of Object.entries(ROLES)) {
    const id = role(name as keyof typeof ROLES);
    graph.roles.set(id, { id, uid: id, name, group: null, capabilities });
  }
  addIdentity(graph, OWNER, "boss", ROOT, exactly);
  if (claimMatch) addIdentity(graph, CI, "ci", ROOT, claimMatch);
  bind(graph, ROOT, OWNER, role("owner"));
  return graph;
};

const after = (before: GraphBuilder, change: (graph: GraphBuilder) => void): GraphBuilder => {
  const graph = newGraph(before);
  change(graph);
  return graph;
};

const proposal = (
  before: GraphBuilder,
  change: (graph: GraphBuilder) => void,
  own: Partial<Proposal> = {},
): Proposal => ({
  source: "preview",
  before,
  after: after(before, change),
  replaced: new Map(),
  restored: [],
  adopted: [],
  forced: [],
  deleted: new Set(),
  undeclared: [],
  unknown: [],
  ...own,
});

const OPTIONS = { notVisible: [], nowMs: 0, deny: [], allow: [] } as const;

const findings = (before: GraphBuilder, change: (graph: GraphBuilder) => void, own?: Partial<Proposal>): Finding[] =>
  reviewOf(proposal(before, change, own), OPTIONS).report.findings;

const found = (...given: Parameters<typeof findings>): string[] =>
  findings(...given).map(({ rule, subject }) => `${rule} ${subject}`);

const NEW = "urn:pulumi:dev::p::t::x";
const assumedBy = (claimMatch: Json) => (graph: GraphBuilder) => void addIdentity(graph, CI, "ci", ROOT, claimMatch);

describe("gains-owner", () => {
  test("fires on a capability that lets one give access", () => {
    expect(findings(start(), (graph) => bind(graph, TEAM, CI, role("owner")))).toEqual([
      {
        rule: "gains-owner",
        subject: CI,
        name: "ci",
        message: "can give access to itself and others at team: it gains role_bindings.create",
      },
    ]);
  });
  test.each([
    ["role_bindings.create", true],
    ["role_bindings.update", true],
    ["roles.update", true],
    ["identity.update", true],
    ["identity_providers.create", true],
    ["identity_providers.update", true],
    ["group_invites.create", true],
    ["role_bindings.delete", false],
    ["roles.create", false],
    ["identity.create", false],
    ["groups.update", false],
  ])("on %s: %s", (capability, fires) => {
    const grant = (graph: GraphBuilder) => bind(graph, TEAM, CI, addRole(graph, "own", [capability], TEAM));
    expect(found(start(), grant)).toEqual(fires ? [`gains-owner ${CI}`] : []);
  });
  test("is silent where the identity has it already, and on other capabilities", () => {
    const before = start();
    bind(before, ROOT, CI, role("owner"));
    expect(found(before, (graph) => bind(graph, TEAM, CI, role("owner")))).toEqual([]);
    expect(found(start(), (graph) => bind(graph, TEAM, CI, role("publisher")))).toEqual([]);
  });
});

describe("matches-many", () => {
  test.each([
    ["any repository of an owner", { issuer: GITHUB, subjectPattern: "repo:acme/.*:ref:refs/heads/main" }],
    ["any branch", { issuer: GITHUB, subjectPattern: "repo:acme/images:ref:refs/heads/.*" }],
    ["two branches", { issuer: GITHUB, subjectPattern: "repo:acme/images:ref:refs/heads/(main|next)" }],
    ["any issuer", { issuerPattern: "https://.*", subject: "ci" }],
    ["a syntax that nobody reads", { issuer: GITHUB, subjectPattern: "(?=x)" }],
    [
      "any subject, with a repository and the branch of a workflow that it calls",
      {
        issuer: GITHUB,
        subjectPattern: ".*",
        claims: { repository: "acme/images", job_workflow_ref: "acme/ci/x.yml@refs/heads/main" },
      },
    ],
    [
      "any subject, with a repository alone",
      { issuer: GITHUB, subjectPattern: ".*", claims: { repository: "acme/images" } },
    ],
    ["a branch in any case", { issuer: GITHUB, subjectPattern: "(?i)repo:acme/images:ref:refs/heads/main" }],
  ])("fires on %s", (_, claimMatch) => {
    expect(found(start(), assumedBy(claimMatch))).toContain(`matches-many ${CI}`);
  });
  test.each([
    ["one text, as a pattern", { issuer: GITHUB, subjectPattern: "repo:acme/images:ref:refs/heads/(?:main)" }],
    [
      "one text by other means",
      { issuer: GITHUB, subjectPattern: "\\Qrepo:a/b:ref:refs/heads/main\\E|repo:a/b:ref:refs/heads/[m]ain" },
    ],
    [
      "repository and branch as claims",
      { issuer: GITHUB, subjectPattern: ".*", claims: { repository: "acme/images", ref: "refs/heads/main" } },
    ],
    [
      "one pipeline and branch, whatever the commit and the step",
      {
        issuer: GITHUB,
        subjectPattern: "organization:acme:pipeline:p:ref:refs/heads/main:commit:[0-9a-f]+:step:[^:]*",
      },
    ],
  ])("is silent on %s", (_, claimMatch) => {
    expect(found(start(), assumedBy(claimMatch))).not.toContain(`matches-many ${CI}`);
  });
  test("is silent on a pattern that was there, and on an AWS role whatever its session", () => {
    const before = start({ issuer: GITHUB, subjectPattern: "repo:acme/.*" });
    expect(found(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    const aws = {
      awsAccount: "123456789012",
      arnPattern: "arn:aws:sts::123456789012:assumed-role/deploy/.*",
      userIdPattern: ".*",
    };
    const use = (awsIdentity: Json) => (graph: GraphBuilder) =>
      void graph.identities.set(CI, { id: CI, uid: CI, name: "ci", group: ROOT, relationship: { awsIdentity } });
    const many = `matches-many ${CI}`;
    expect(found(start(), use(aws))).not.toContain(many);
    expect(found(start(), use({ ...aws, arnPattern: "arn:aws:sts::123456789012:.*" }))).toContain(many);
  });
});

describe("assumed-by-others", () => {
  const evil = { issuer: GITHUB, subject: "repo:evil/images:ref:refs/heads/main" };
  test("fires on another owner, without a change of what it can do", () => {
    expect(findings(start(), assumedBy(evil))).toEqual([
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
    expect(found(start(), replace)).toEqual(["assumed-by-others ci", `identity-replaced ${CI}`]);
    expect(found(start(), (graph) => void addIdentity(graph, NEW, "next", ROOT, evil))).toEqual([]);
  });
  test("fires when a harmless identity of the same name is created beside the other one", () => {
    const replace = (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, `${NEW}-harmless`, "ci", ROOT, exactly);
      addIdentity(graph, NEW, "ci", ROOT, evil);
    };
    expect(found(start(), replace)).toEqual(["assumed-by-others ci", `identity-replaced ${CI}`]);
  });
  test("is silent on another repository of the owner, and fires on a pattern that cannot be decided", () => {
    expect(found(start(), assumedBy({ ...exactly, subject: "repo:acme/charts:ref:refs/heads/main" }))).toEqual([]);
    expect(found(start(), assumedBy({ issuer: GITHUB, subjectPattern: "repo:(a|/|:)*a(a|/|:){25}.*" }))).toContain(
      `assumed-by-others ${CI}`,
    );
  });
});

describe("matches-everyone", () => {
  test("fires on a pattern that leaves the owner open, also of a new identity", () => {
    const open = { issuer: GITHUB, subjectPattern: "repo:[^/]+/images:ref:refs/heads/main" };
    const add = (graph: GraphBuilder) => void addIdentity(graph, NEW, "next", ROOT, open);
    expect(findings(start(), add)[0]).toEqual({
      rule: "matches-everyone",
      subject: "next",
      name: "next",
      message: 'can be assumed by every owner of GitHub, such as "someone-else"',
    });
    const before = start(open);
    expect(found(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
  });
  test("fires on a pattern that cannot be decided", () => {
    expect(findings(start(), assumedBy({ issuer: GITHUB, subjectPattern: "(?=x)" }))).toContainEqual(
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
    expect(found(start(), assumedBy(other))).toContain(`new-issuer ${CI}`);
    expect(found(start(other), assumedBy({ ...exactly, subject: "y" }))).not.toContain(`new-issuer ${CI}`);
  });
  test("is silent on a pattern that matches trusted issuers alone, and fires on one that matches another", () => {
    const before = start({ issuer: "https://gitlab.example.com", subject: "x" });
    const pattern = (issuerPattern: string) => found(before, assumedBy({ issuerPattern, subject: "x" }));
    expect(pattern("https://gitlab\\.example\\.com")).not.toContain(`new-issuer ${CI}`);
    expect(pattern("https://gitlab.example\\.com")).toContain(`new-issuer ${CI}`);
  });
  test("fires on an issuer that only signs for the key of an identity, and is silent on such a key of a trusted issuer", () => {
    const keys = { issuer: "https://gitlab.example.com", subject: "x", issuerKeys: "{}" };
    const signedBy = (issuer: string) => (graph: GraphBuilder) => {
      const key = { staticKeys: { ...keys, issuer } };
      graph.identities.set(CI, { id: CI, uid: CI, name: "ci", group: ROOT, relationship: key });
    };
    const before = after(start(), signedBy(keys.issuer));
    expect(found(before, assumedBy({ issuer: keys.issuer, subject: "x" }))).toContain(`new-issuer ${CI}`);
    expect(found(start(), signedBy(GITHUB))).not.toContain(`new-issuer ${CI}`);
  });
});

describe("pull-request-writes", () => {
  const pull = { issuer: GITHUB, subject: "repo:acme/images:pull_request" };
  test("fires when what a pull request can assume gains a right to write", () => {
    expect(found(start(pull), (graph) => bind(graph, TEAM, CI, role("publisher")))).toEqual([
      `pull-request-writes ${CI}`,
    ]);
  });
  test("is silent on rights to list and get, and on what was there", () => {
    expect(found(start(pull), (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    const before = start(pull);
    bind(before, TEAM, CI, role("publisher"));
    expect(found(before, (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
  });
  test.each([
    ["the subject of pull requests", pull, true],
    ["a pattern that matches it among others", { issuer: GITHUB, subjectPattern: "repo:acme/images:.*" }, true],
    [
      "one of two alternatives",
      { issuer: GITHUB, subjectPattern: "repo:acme/images:(ref:refs/heads/main|pull_request)" },
      true,
    ],
    ["the claim event_name", { issuer: GITHUB, subjectPattern: ".*", claims: { event_name: "pull_request" } }, true],
    ["another event", { issuer: GITHUB, subjectPattern: ".*", claims: { event_name: "push" } }, false],
    ["a branch", { issuer: GITHUB, subjectPattern: "repo:acme/.*:ref:refs/heads/main" }, false],
    ["any case", { issuer: GITHUB, subjectPattern: "(?i)REPO:Team/App:.*" }, true],
    ["any case of a branch", { issuer: GITHUB, subjectPattern: "(?i)repo:team/app:ref:refs/heads/.*" }, false],
    ["a named class", { issuer: GITHUB, subjectPattern: "repo:team/app:[[:word:]]+" }, true],
    [
      "a branch of a named class",
      { issuer: GITHUB, subjectPattern: "repo:team/app:ref:refs/heads/[[:alpha:]]+" },
      false,
    ],
    ["a quotation", { issuer: GITHUB, subjectPattern: String.raw`\Qrepo:team/app:\E.*` }, true],
    ["codes of characters", { issuer: GITHUB, subjectPattern: String.raw`repo\x3ateam/app\x{3a}pull\137.*` }, true],
    ["a class of Unicode", { issuer: GITHUB, subjectPattern: String.raw`repo:team/app:\p{Ll}+_request` }, true],
    ["a dot for the colon", { issuer: GITHUB, subjectPattern: "repo:acme/charts.pull_request" }, true],
    [
      "a branch of the workflow that it calls",
      {
        issuer: GITHUB,
        subjectPattern: ".*",
        claims: { job_workflow_ref: "acme/ci/.github/workflows/x.yml@refs/heads/main" },
      },
      true,
    ],
    ["the branch of the job", { issuer: GITHUB, subjectPattern: ".*", claims: { ref: "refs/heads/main" } }, false],
    ["a template that begins with the owner", { issuer: GITHUB, subjectPattern: "repository_owner:acme:.*" }, true],
    [
      "a template without the event",
      { issuer: GITHUB, subject: "repo:acme/x:job_workflow_ref:acme/ci/x.yml@v1" },
      true,
    ],
    ["the review of a pull request", { issuer: GITHUB, subjectPattern: "repo:acme/x:ref:refs/pull/.*" }, true],
    ["an environment of that name", { issuer: GITHUB, subject: "repo:acme/x:environment:prod" }, false],
    ["any environment", { issuer: GITHUB, subjectPattern: "repo:acme/x:environment:.*" }, true],
    ["one environment, as a claim", { issuer: GITHUB, subjectPattern: ".*", claims: { environment: "prod" } }, false],
    [
      "the event on the base",
      { issuer: GITHUB, subjectPattern: ".*", claims: { event_name: "pull_request_target" } },
      true,
    ],
    ["a branch of GitLab", { issuer: GITLAB, subject: "project_path:acme/x:ref_type:branch:ref:main" }, false],
    ["any branch of GitLab", { issuer: GITLAB, subjectPattern: "project_path:acme/x:ref_type:branch:ref:.*" }, true],
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
    ["a project of GitLab", { issuer: GITLAB, subject: "project_path:acme/x" }, true],
    [
      "a branch of Buildkite",
      { issuer: BUILDKITE, subjectPattern: "organization:acme:pipeline:x:ref:refs/heads/main:.*" },
      false,
    ],
    ["any branch of Buildkite", { issuer: BUILDKITE, subjectPattern: "organization:acme:pipeline:x:.*" }, true],
    ["an account of Google", { issuer: "https://accounts.google.com", subjectPattern: "[0-9]+" }, false],
    [
      "a pattern that takes too long to decide",
      { issuer: GITHUB, subjectPattern: "repo:(a|/|:)*a(a|/|:){25}.*" },
      true,
    ],
    [
      "the absence of a class of Unicode",
      { issuer: GITHUB, subjectPattern: String.raw`repo:team/app:[^\p{Lu}]+` },
      true,
    ],
  ])("opening an identity that writes: %s", (_, claimMatch, fires) => {
    const before = start();
    bind(before, TEAM, CI, role("publisher"));
    expect(found(before, assumedBy(claimMatch)).includes(`pull-request-writes ${CI}`)).toBe(fires);
  });
});

describe("root-binding", () => {
  test("fires on a role on an organization, also of an identity that does not exist yet", () => {
    expect(found(start(), (graph) => bind(graph, ROOT, CI, role("viewer")))).toEqual([`root-binding ${CI}`]);
    const create = (graph: GraphBuilder) =>
      bind(graph, ROOT, addIdentity(graph, NEW, "next", ROOT, exactly), role("viewer"));
    expect(found(start(), create)).toEqual(["root-binding next"]);
  });
  test("is silent on a group below, and on a new binding of the same pair", () => {
    expect(found(start(), (graph) => bind(graph, TEAM, CI, role("viewer")))).toEqual([]);
    const replace = (graph: GraphBuilder) => {
      graph.bindings.clear();
      graph.bindings.set(NEW, { id: NEW, uid: null, group: ROOT, identity: OWNER, role: role("owner") });
    };
    expect(found(start(), replace)).toEqual([]);
  });
});

describe("last-owner-goes", () => {
  test("fires when the last binding of owner on the organization goes, or its identity", () => {
    expect(found(start(), (graph) => graph.bindings.clear())).toEqual([`last-owner-goes ${ROOT}`]);
    expect(found(start(), (graph) => void graph.identities.delete(OWNER))).toContain(`last-owner-goes ${ROOT}`);
  });
  test("is silent when another owner is left, and when there was none", () => {
    const before = start();
    bind(before, ROOT, CI, role("owner"));
    const drop = (graph: GraphBuilder) => void graph.bindings.delete(`${ROOT}/b ${OWNER} ${role("owner")}`);
    expect(found(before, drop)).toEqual([]);
    const none = start();
    none.bindings.clear();
    expect(found(none, () => {})).toEqual([]);
  });
  test("is silent on an organization that goes itself", () => {
    const go = (graph: GraphBuilder) => {
      graph.groups.delete(ROOT);
      graph.bindings.clear();
    };
    expect(found(start(), go)).toEqual([]);
  });
});

describe("identity-replaced", () => {
  test("fires when an identity goes and one of its name comes, also in another group", () => {
    const move = (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, NEW, "ci", TEAM, exactly);
    };
    expect(findings(start(), move)).toEqual([
      {
        rule: "identity-replaced",
        subject: CI,
        name: "ci",
        message:
          'is replaced by one with another uid, in team instead of /; workflows that name its uid stop working: a workload whose token has issuer "https://token.actions.githubusercontent.com" and subject "repo:acme/images:ref:refs/heads/main"',
      },
    ]);
  });
  test("fires when the engine or the same workloads replace it under another name, and is silent on one that only goes", () => {
    const renameTo = (match: Json) => (graph: GraphBuilder) => {
      graph.identities.delete(CI);
      addIdentity(graph, NEW, "other", ROOT, match);
    };
    const rename = renameTo({ ...exactly, subject: "repo:acme/charts:ref:refs/heads/main" });
    expect(found(start(), rename)).toEqual([]);
    expect(found(start(), renameTo(exactly))).toEqual([`identity-replaced ${CI}`]);
    expect(found(start(), rename, { replaced: new Map([[CI, NEW]]) })).toEqual([`identity-replaced ${CI}`]);
    expect(found(start(), (graph) => void graph.identities.delete(CI))).toEqual([]);
  });
});

describe("regrants-removed", () => {
  test("fires on what was removed by hand and is created again", () => {
    const grant = (graph: GraphBuilder) =>
      void graph.bindings.set(NEW, { id: NEW, uid: null, group: TEAM, identity: CI, role: role("viewer") });
    expect(found(start(), grant)).toEqual([]);
    expect(findings(start(), grant, { restored: [NEW] })).toEqual([
      {
        rule: "regrants-removed",
        subject: CI,
        name: "ci",
        message: "gets viewer at team again, which was removed by hand",
      },
    ]);
  });
});

describe("--deny and --allow", () => {
  const judgedWith = (deny: string, ...allow: string[]) =>
    reviewOf(
      proposal(start(), (graph) => bind(graph, TEAM, CI, role("owner"))),
      { ...OPTIONS, deny: [ruleFrom(deny) as never], allow: allow.map((one) => allowanceFrom(one) as never) },
    ).report.findings.map(({ allowed, denied }) => ({ allowed, denied }));

  test("a finding of a denied rule is marked, and an allowed one stays, marked, by uid or name", () => {
    expect(judgedWith("gains-owner")).toEqual([{ denied: true }]);
    expect(judgedWith("gains-owner", "gains-owner@ci")).toEqual([{ allowed: true }]);
    expect(judgedWith("gains-owner", `gains-owner@${CI}`)).toEqual([{ allowed: true }]);
    expect(judgedWith("gains-owner", "root-binding@ci", "gains-owner@other")).toEqual([{ denied: true }]);
    expect(judgedWith("root-binding")).toEqual([{}]);
  });
  test("a text that names no rule is refused with the nearest", () => {
    expect(ruleFrom("gain-owner")).toEqual({ problem: 'there is no rule "gain-owner"; did you mean gains-owner?' });
    expect(allowanceFrom("gains-owner")).toEqual({
      problem: '"gains-owner" is not RULE@SUBJECT, such as gains-owner@platform/release',
    });
  });
});
