// A policy becomes groups, identities, roles and bindings; its mistakes are reported all at once, each with its place.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { mistakeText, type Policy, parsePolicy, readPolicy } from "../../../access/policy/index.ts";
import { temporaryFolder } from "../../support/command.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

let count = 0;
/** The files of a policy, `access.yaml` first. */
const write = (files: Record<string, string>): string => {
  const name = `policy-${++count}`;
  for (const [file, text] of Object.entries(files)) {
    const path = folder.path(`${name}/${file}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return folder.path(`${name}/access.yaml`);
};

/** The lines of the mistakes, without the folder. */
const mistakesOf = (text: string, others: Record<string, string> = {}): string[] => {
  const file = write({ "access.yaml": text, ...others });
  const { policy, mistakes } = readPolicy(file);
  expect(policy === undefined).toBe(mistakes.length > 0);
  return mistakes.map((one) => mistakeText(one).replaceAll(`${dirname(file)}/`, ""));
};

const policyOf = (text: string, others: Record<string, string> = {}): Policy => {
  const { policy, mistakes } = readPolicy(write({ "access.yaml": text, ...others }));
  expect(mistakes.map(mistakeText)).toEqual([]);
  return policy as Policy;
};

const EXAMPLE = `organization: acme
groups:
  platform: { description: Builds what others stand on, groups: { registry: {}, clusters: {} } }
identities:
  release: { in: platform, github: { repository: acme/images, branch: main } }
  review:  { github: { repository: acme/*, event: pull_request } }
  deploy:  { in: platform, kubernetes: { issuer: https://oidc.example.com/id/7, namespace: prod, serviceAccount: deployer } }
roles:
  publisher: { in: platform, can: [repo.list, repo.create, manifest.create, tag.create] }
access:
  platform/registry: { publisher: [release] }
  /: { viewer: [review] }
`;

const plain = (policy: Policy) =>
  JSON.parse(JSON.stringify(policy, (_, value) => (value instanceof Map ? [...value.values()] : value)));

describe("a policy file", () => {
  test("becomes groups by path, identities with their relationship, roles and bindings", () => {
    const { groups, identities, roles, bindings, organization } = policyOf(EXAMPLE);
    expect(organization).toEqual({ name: "acme" });
    expect([...groups.values()].map(({ path, parent, name }) => [path, parent, name])).toEqual([
      ["platform", "/", "platform"],
      ["platform/registry", "platform", "registry"],
      ["platform/clusters", "platform", "clusters"],
    ]);
    expect(identities.get("release")).toMatchObject({
      key: "release",
      name: "release",
      group: "platform",
      relationship: {
        claimMatch: {
          issuer: "https://token.actions.githubusercontent.com",
          subject: "repo:acme/images:ref:refs/heads/main",
        },
      },
      place: { line: 5, column: 3 },
    });
    expect(identities.get("review")?.group).toBe("/");
    expect(roles.get("publisher")?.capabilities).toEqual(["manifest.create", "repo.create", "repo.list", "tag.create"]);
    expect(bindings).toEqual([
      {
        group: "platform/registry",
        role: "publisher",
        identity: "release",
        place: expect.objectContaining({ line: 11 }),
      },
      { group: "/", role: "viewer", identity: "review", place: expect.objectContaining({ line: 12 }) },
    ]);
  });

  test("means the same as an object", () => {
    const object = {
      organization: "acme",
      groups: { platform: { description: "Builds what others stand on", groups: { registry: {}, clusters: {} } } },
      identities: {
        release: { in: "platform", github: { repository: "acme/images", branch: "main" } },
        review: { github: { repository: "acme/*", event: "pull_request" } },
        deploy: {
          in: "platform",
          kubernetes: { issuer: "https://oidc.example.com/id/7", namespace: "prod", serviceAccount: "deployer" },
        },
      },
      roles: { publisher: { in: "platform", can: ["repo.list", "repo.create", "manifest.create", "tag.create"] } },
      access: { "platform/registry": { publisher: ["release"] }, "/": { viewer: ["review"] } },
    };
    const { policy, mistakes } = parsePolicy(object);
    expect(mistakes).toEqual([]);
    const withoutPlaces = (value: object) =>
      JSON.parse(JSON.stringify(value, (key, one) => (key === "place" ? undefined : one)));
    expect(withoutPlaces(plain(policy as Policy))).toEqual(withoutPlaces(plain(policyOf(EXAMPLE))));
  });

  test("may leave sections empty, name records other than their keys, and give uids and relationships", () => {
    const policy = policyOf(`organization: { uid: ${"a".repeat(40)} }
groups:
  platform: { name: the platform }
  data:
identities:
  ci: { in: platform, name: release workflow, claimMatch: { issuer: https://i.example, subject: s, claims: { a: b } } }
  old:
    staticKeys: { issuer: https://i.example, subject: s, issuerKeys: '{"keys":[]}' }
roles:
access:
  platform: { editor: [ci], viewer: [] }
  data:
`);
    expect(policy.organization).toEqual({ uid: "a".repeat(40) });
    expect(policy.groups.get("platform")?.name).toBe("the platform");
    expect(policy.identities.get("ci")?.name).toBe("release workflow");
    expect(policy.identities.get("old")?.relationship).toEqual({
      staticKeys: { issuer: "https://i.example", subject: "s", issuerKeys: '{"keys":[]}' },
    });
    expect(policy.bindings.map(({ group, role, identity }) => [group, role, identity])).toEqual([
      ["platform", "editor", "ci"],
    ]);
  });

  test("may use anchors, aliases and merge keys", () => {
    const policy = policyOf(`organization: acme
identities:
  a: { github: &images { repository: acme/images, branch: main } }
  b: { github: { <<: *images, repository: acme/other } }
roles:
  one: { can: &can [repo.list] }
  two: { can: *can }
access:
  /: { one: &all [a, b], two: *all }
`);
    expect(policy.identities.get("b")?.relationship).toMatchObject({
      claimMatch: { subject: "repo:acme/other:ref:refs/heads/main" },
    });
    expect(policy.bindings).toHaveLength(4);
  });

  test("joins the files that it includes, each once", () => {
    const policy = policyOf(
      `include: [teams/platform.yaml, teams/data.yaml]
organization: acme
groups: { platform: { description: Builds } }
access: { /: { viewer: [release] } }
`,
      {
        "teams/platform.yaml": `include: [roles.yaml]
groups: { platform: { groups: { registry: {} } } }
identities: { release: { in: platform, github: { repository: acme/images, branch: main } } }
access: { platform/registry: { publisher: [release] } }
`,
        "teams/data.yaml": `include: [roles.yaml]
groups: { data: }
access: { /: { viewer: [], editor: [release] } }
`,
        "teams/roles.yaml": "roles: { publisher: { can: [repo.create] } }\n",
      },
    );
    expect([...policy.groups.keys()]).toEqual(["platform", "platform/registry", "data"]);
    expect(policy.groups.get("platform")?.description).toBe("Builds");
    expect(policy.bindings.map(({ group, role }) => `${group} ${role}`)).toEqual([
      "/ viewer",
      "/ editor",
      "platform/registry publisher",
    ]);
  });
});

describe("every mistake is reported with its line, its column and what to write instead:", () => {
  const rest = "organization: acme\n";
  test.each<[string, string, string[]]>([
    [
      "no organization",
      "groups: {}\n",
      ["access.yaml:1:1: organization: is required: the name of the organization, or { uid: … } of one that exists"],
    ],
    [
      "a misspelt section",
      `${rest}identites: {}\n`,
      ["access.yaml:2:1: identites: there is no such field here; did you mean identities?"],
    ],
    [
      "an unknown group, with the nearest",
      `${rest}groups: { platform: { groups: { registry: } } }\nidentities:\n  a: { in: platfrm, aws: { account: "123456789012", role: r } }\n  b: { in: registry, aws: { account: "123456789012", role: r } }\n`,
      [
        "access.yaml:4:12: identities.a.in: there is no group platfrm; did you mean platform?",
        "access.yaml:5:12: identities.b.in: there is no group registry; did you mean platform/registry?",
      ],
    ],
    [
      "an unknown group of access",
      `${rest}groups: { platform: }\naccess:\n  /platform: {}\n  data: {}\n`,
      [
        "access.yaml:4:3: access./platform: there is no group /platform; did you mean platform?",
        "access.yaml:5:3: access.data: there is no group data; declare it in groups",
      ],
    ],
    [
      "unknown roles and identities",
      `${rest}identities: { release: { google: { uniqueId: "107517467455664443765" } } }\naccess:\n  /: { viewr: [relese], publisher: [who] }\n`,
      [
        "access.yaml:4:8: access./.viewr: there is no role viewr; did you mean viewer?",
        "access.yaml:4:16: access./.viewr[0]: there is no identity relese; did you mean release?",
        "access.yaml:4:25: access./.publisher: there is no role publisher; declare it in roles",
        "access.yaml:4:37: access./.publisher[0]: there is no identity who; declare it in identities",
      ],
    ],
    [
      "a key that stands twice, at the second",
      `${rest}groups:\n  data:\n  data: {}\n`,
      ["access.yaml:4:3: groups.data: stands here twice; the first is at 3:3"],
    ],
    [
      "records of one name in one group, at the second",
      `${rest}groups:\n  a: { name: data }\n  data:\nroles:\n  x: { can: [repo.list] }\n  y: { name: x, can: [repo.list] }\n`,
      [
        "access.yaml:4:3: groups.data: group a has the same name in this group; choose another",
        "access.yaml:7:14: roles.y.name: role x has the same name in this group; choose another",
      ],
    ],
    [
      "an identity twice in a row",
      `${rest}identities: { a: { google: { uniqueId: "107517467455664443765" } } }\naccess: { /: { viewer: [a, a] } }\n`,
      ["access.yaml:3:28: access./.viewer[1]: a has viewer here already"],
    ],
    [
      "an identity without a relationship, and with two",
      `${rest}identities:\n  a: {}\n  b: { aws: { account: "123456789012", role: r }, claimMatch: {} }\n`,
      [
        "access.yaml:3:3: identities.a: says of no workload that it may assume it; give one of github, gitlab, buildkite, kubernetes, google, aws, claimMatch, staticKeys, awsIdentity",
        "access.yaml:4:51: identities.b.claimMatch: only one of github, gitlab, buildkite, kubernetes, google, aws, claimMatch, staticKeys, awsIdentity may be given; there is aws already",
      ],
    ],
    [
      "a wrong preset",
      `${rest}identities:\n  a: { github: { repository: acme/images } }\n  b: { github: { repository: acme/images, branch: m, tag: t } }\n  c: { gitlab: { projct: a/b, branch: 1.0 } }\n`,
      [
        "access.yaml:3:8: identities.a.github: one of branch, tag, environment, event is required",
        "access.yaml:4:59: identities.b.github.tag: only one of branch, tag, environment, event may be given",
        "access.yaml:5:8: identities.c.gitlab: project is required",
        "access.yaml:5:26: identities.c.gitlab.projct: GitLab has no such argument; did you mean project?",
        'access.yaml:5:39: identities.c.gitlab.branch: must be a string: write "1", in quotes',
      ],
    ],
    [
      "http issuers",
      `${rest}identities:\n  a: { claimMatch: { issuer: http://i.example, subject: s } }\n  b: { kubernetes: { issuer: http://i.example, namespace: n, serviceAccount: s } }\n`,
      [
        "access.yaml:3:30: identities.a.claimMatch.issuer: must be https: https://i.example",
        "access.yaml:4:30: identities.b.kubernetes.issuer: must be https: https://i.example",
      ],
    ],
    [
      "bad patterns",
      `${rest}identities:\n  a: { claimMatch: { issuer: https://i.example, subjectPattern: "a(", subjct: s } }\n  b: { claimMatch: { issuer: https://i.example } }\n`,
      [
        "access.yaml:3:65: identities.a.claimMatch.subjectPattern: must be an RE2 pattern: error parsing regexp: missing closing ): `a(`",
        "access.yaml:3:71: identities.a.claimMatch.subjct: claimMatch has no such field; did you mean subject?",
        "access.yaml:4:8: identities.b.claimMatch.subject: one of subject, subjectPattern must be set",
      ],
    ],
    [
      "patterns that match everything, or the workloads of strangers",
      `${rest}identities:
  a: { claimMatch: { issuer: https://i.example, subjectPattern: ".*" } }
  b: { claimMatch: { issuerPattern: "https://.*", subject: s } }
  c: { claimMatch: { issuer: https://token.actions.githubusercontent.com, subjectPattern: "repo:[^:]+:pull_request" } }
  d: { claimMatch: { issuer: https://i.example, subject: s, claimPatterns: { ref: ".+" } } }
  e: { claimMatch: { issuer: https://token.actions.githubusercontent.com, subjectPattern: "repo:.*", claims: { repository_owner_id: "65" } } }
`,
      [
        "access.yaml:3:65: identities.a.claimMatch.subjectPattern: matches every subject of the issuer; name the workload",
        "access.yaml:4:37: identities.b.claimMatch.issuerPattern: matches every issuer, so anyone can sign in; give issuer, the one that you mean",
        "access.yaml:5:91: identities.c.claimMatch.subjectPattern: matches the workloads of every customer of https://token.actions.githubusercontent.com; name the organization",
        "access.yaml:6:83: identities.d.claimMatch.claimPatterns.ref: matches everything; give the values that you mean, or leave it out",
      ],
    ],
    [
      "a role used above its group",
      `${rest}groups: { platform: }\nidentities: { a: { google: { uniqueId: "107517467455664443765" } } }\nroles:\n  publisher: { in: platform, can: [repo.list] }\naccess:\n  platform: { publisher: [a] }\n  /: { publisher: [a] }\n`,
      [
        "access.yaml:8:8: access./.publisher: role publisher belongs to platform, so it can be given there and below, not at /",
      ],
    ],
    [
      "an empty can, no can, and capabilities that do not exist",
      `${rest}roles:\n  a: { can: [] }\n  b: {}\n  c: { can: [repo.lst, repo.list, CAP_REPO_LIST] }\n  viewer: { can: [repo.list] }\n`,
      [
        "access.yaml:3:13: roles.a.can: must have at least one capability, such as repo.list",
        "access.yaml:4:3: roles.b: needs can: a list of capabilities, such as [repo.list]",
        "access.yaml:5:14: roles.c.can[0]: there is no capability repo.lst; did you mean repo.list?",
        "access.yaml:5:35: roles.c.can[2]: CAP_REPO_LIST stands here twice",
        "access.yaml:6:3: roles.viewer: viewer is a built-in role; choose another key, and give name where it must be viewer",
      ],
    ],
    [
      "wrong shapes, and the rest all the same",
      `${rest}groups: { Data: , "a/b": }\nidentities: [a]\nroles: { x: { can: repo.list } }\naccess: { /: { viewer: a, x: [b] } }\n`,
      [
        'access.yaml:2:11: groups.Data: name must match "^[a-z0-9 ._-]{1,}$"; the key is the name unless name is given',
        'access.yaml:2:19: groups.a/b: a key of a group must not contain "/": write the group below its parent, in groups',
        "access.yaml:3:13: identities: must be a map",
        "access.yaml:4:10: roles.x: needs can: a list of capabilities, such as [repo.list]",
        "access.yaml:4:20: roles.x.can: must be a list",
        "access.yaml:5:24: access./.viewer: must be a list",
        "access.yaml:5:31: access./.x[0]: there is no identity b; declare it in identities",
      ],
    ],
    [
      "no YAML",
      "organization: [acme\n",
      [
        "access.yaml:2:1: is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
      ],
    ],
    [
      "two documents",
      "organization: acme\n---\na: b\n",
      ["access.yaml:2:1: a second document begins here; the file may hold one"],
    ],
    [
      "an empty file",
      "# nothing\n",
      [
        "access.yaml:1:1: must be a map with organization, groups, identities, roles and access; `irm init` writes an example",
      ],
    ],
  ])("%s", (_, text, mistakes) => {
    expect(mistakesOf(text)).toEqual(mistakes);
  });
});

describe("files that include each other", () => {
  test("report what they cannot read, at the place of the include", () => {
    expect(mistakesOf("include: [no.yaml, 7]\norganization: acme\n")).toEqual([
      expect.stringMatching(/^access\.yaml:1:11: include: cannot read no\.yaml: ENOENT/),
      "access.yaml:1:20: include[1]: must be the name of a file",
    ]);
    expect(mistakesOf("include: teams\norganization: acme\n")).toEqual([
      "access.yaml:1:10: include: must be a list of files",
    ]);
  });

  test("report a cycle", () => {
    expect(mistakesOf("include: [b.yaml]\norganization: acme\n", { "b.yaml": "include: [access.yaml]\n" })).toEqual([
      "b.yaml:1:11: include: includes itself: access.yaml > b.yaml > access.yaml",
    ]);
  });

  test("report what stands in two of them, at the second", () => {
    const others = { "b.yaml": "organization: acme\nroles:\n  x: { can: [repo.lst] }\n  y: { can: [repo.lst] }\n" };
    expect(mistakesOf("include: [b.yaml]\norganization: acme\nroles: { x: { can: [repo.list] } }\n", others)).toEqual([
      "b.yaml:1:1: organization: stands in access.yaml:2:1 already",
      "b.yaml:3:3: roles.x: stands in access.yaml:3:10 already",
      "b.yaml:4:14: roles.y.can[0]: there is no capability repo.lst; did you mean repo.list?",
    ]);
  });
});

describe("hostile files are refused before anything else:", () => {
  test("more than 4 MiB", () => {
    const text = `organization: acme\n# ${"x".repeat(10_000_000)}\n`;
    expect(mistakesOf(text)).toEqual([
      "access.yaml:1:1: access.yaml is larger than 4 MiB; divide the policy into files and include them",
    ]);
  });

  test("more than 100,000 nodes as they stand", () => {
    const text = `organization: acme\nroles: { x: { can: [${"a,".repeat(100_001)}] } }\n`;
    expect(mistakesOf(text)).toEqual([
      "access.yaml:1:1: has more than 100,000 nodes, aliases included; divide the policy",
    ]);
  });

  test("aliases that multiply", () => {
    const lines = Array.from(
      { length: 40 },
      (_, i) => `a${i + 1}: &a${i + 1} [${"*a".concat(String(i), ",").repeat(10)}]`,
    );
    expect(mistakesOf(`a0: &a0 [x]\n${lines.join("\n")}\n`)).toEqual([
      "access.yaml:1:1: has more than 100,000 nodes, aliases included; divide the policy",
    ]);
  });

  test("an alias within its own anchor", () => {
    expect(mistakesOf("organization: acme\ngroups: &g\n  a: { groups: *g }\n")).toEqual([
      "access.yaml:3:16: groups.a.groups: the alias *g stands in what it stands for, so it has no end; write it out",
    ]);
  });

  test.each<[string, string]>([
    ["brackets without end", "[".repeat(90_000)],
    ["brackets", `${"[".repeat(500)}${"]".repeat(500)}`],
    ["dashes", `${"- ".repeat(500)}a`],
  ])("nesting by %s", (_, text) => {
    const refusal = /^access\.yaml:1:\d+: is nested more than 400 levels deep$/;
    expect(mistakesOf(text)).toContainEqual(expect.stringMatching(refusal));
  });

  test("bytes that are not UTF-8, and names that every object has", () => {
    const file = write({ "access.yaml": "" });
    writeFileSync(file, Buffer.from([0x61, 0xff]));
    expect(readPolicy(file).mistakes.map(({ text }) => text)).toEqual([`${file} is not UTF-8`]);
    expect(
      mistakesOf(
        "organization: acme\ngroups: { __proto__: { name: x } }\naccess: { /: { toString: [constructor] } }\n",
      ),
    ).toEqual([
      "access.yaml:2:11: groups: __proto__ cannot be a name here",
      "access.yaml:3:16: access./.toString: there is no role toString; declare it in roles",
      "access.yaml:3:27: access./.toString[0]: there is no identity constructor; declare it in identities",
    ]);
  });

  test("objects that contain themselves, or are too large", () => {
    const groups: Record<string, unknown> = {};
    groups.a = { groups };
    expect(parsePolicy({ organization: "acme", groups }).mistakes.map(mistakeText)).toEqual([
      "groups.a.groups: contains itself",
    ]);
    const can = new Array(100_001).fill("repo.list");
    expect(parsePolicy({ organization: "acme", roles: { x: { can } } }).mistakes.map(mistakeText)).toEqual([
      "has more than 100,000 nodes; divide the policy",
    ]);
  });
});
