// The mistakes of a policy are reported all at once, each with its place.
import { expect, test } from "vitest";
import { mistakesOf } from "./files.ts";

const rest = "organization: acme\n";
test.each(
  Object.entries<[string, ...string[]]>({
    "no organization": [
      "groups: {}\n",
      "1:1: organization: is required: the name of the organization, or { uid: … } of one that exists",
    ],
    "a section": [`${rest}identites: {}\n`, "2:1: identites: there is no such field here; did you mean identities?"],
    "an unknown group, with the nearest": [
      `${rest}groups: { platform: { groups: { registry: } } }\nidentities:\n  a: { in: platfrm, aws: { account: "123456789012", role: r } }\n  b: { in: registry, aws: { account: "123456789012", role: r } }\n`,
      "4:12: identities.a.in: there is no group platfrm; did you mean platform?",
      "5:12: identities.b.in: there is no group registry; did you mean platform/registry?",
    ],
    "claims that match no token, of a workload in a test as well": [
      `${rest}identities:\n  a: { claimMatch: { issuer: https://gitlab.com/, subject: "project_path:acme/*:ref_type:branch:ref:main" } }\n  b: { github: { repository: acme/images, branch: main, issuer: https://token.actions.acme.ghe.com/ } }\n  c: { claimMatch: { issuer: https://oidc.eks.eu-west-1.amazonaws.com/id/AB/, subject: system:serviceaccount:prod:x } }\ntests: [{ name: n, workload: { claimMatch: { issuer: https://token.actions.githubusercontent.com, subject: "repo:acme/a.b*:pull_request" } }, cannot: "*" }]\n`,
      "3:30: identities.a.claimMatch.issuer: ends with a slash, which this issuer does not have, so it matches no token; write https://gitlab.com",
      '3:60: identities.a.claimMatch.subject: is compared byte for byte, so * stands for itself and it matches no token; write subjectPattern: "project_path:acme/[^/:]*:ref_type:branch:ref:main"',
      "4:65: identities.b.github.issuer: ends with a slash, which this issuer does not have, so it matches no token; write https://token.actions.acme.ghe.com",
      "5:30: identities.c.claimMatch.issuer: ends with a slash, which this issuer does not have, so it matches no token; write https://oidc.eks.eu-west-1.amazonaws.com/id/AB",
      '6:108: tests[0].workload.claimMatch.subject: is compared byte for byte, so * stands for itself and it matches no token; write subjectPattern: "repo:acme/a\\\\.b[^/:]*:pull_request"',
    ],
    "an unknown group of access": [
      `${rest}groups: { platform: }\naccess:\n  /platform: {}\n  data: {}\n`,
      "4:3: access./platform: there is no group /platform; did you mean platform?",
      "5:3: access.data: there is no group data; declare it in groups",
    ],
    "unknown roles and identities": [
      `${rest}identities: { release: { google: { uniqueId: "107517467455664443765" } } }\naccess:\n  /: { viewr: [relese], publisher: [who] }\n`,
      "4:8: access./.viewr: there is no role viewr; did you mean viewer?",
      "4:16: access./.viewr[0]: there is no identity relese; did you mean release?",
      "4:25: access./.publisher: there is no role publisher; declare it in roles, or run `npx pulumi-irm roles --write` if your service has it",
      "4:37: access./.publisher[0]: there is no identity who; declare it in identities",
    ],
    "a key that stands twice, at the second": [
      `${rest}groups:\n  data:\n  data: {}\n`,
      "4:3: groups.data: is here twice; the first is at 3:3",
    ],
    "records of one name in one group, at the second": [
      `${rest}groups:\n  a: { name: data }\n  data:\nroles:\n  x: { can: [repo.list] }\n  y: { name: x, can: [repo.list] }\n`,
      "4:3: groups.data: group a has the same name in this group; choose another",
      "7:14: roles.y.name: role x has the same name in this group; choose another",
    ],
    "records of one name, at the second, also where a key is a number": [
      `${rest}groups:\n  b: { name: data }\n  1: { name: data }\n  2: { name: data }\n`,
      "4:14: groups.1.name: group b has the same name in this group; choose another",
      "5:14: groups.2.name: group 1 has the same name in this group; choose another",
    ],
    "an organization of digits, whose uid or name needs quotes": [
      `organization: { uid: 1234567890123456789012345678901234567890 }\n`,
      '1:22: organization.uid: must be a string: write "1234567890123456789012345678901234567890", in quotes',
    ],
    "an organization whose name is a number": [
      "organization: 0x1F\n",
      '1:15: organization: must be a string: write "0x1F", in quotes',
    ],
    "numbers and truth values without quotes, as they are written": [
      `${rest}identities:\n  a: { aws: { account: 012345678901, role: r } }\n  b: { gitlab: { project: a/b, branch: 1.10 } }\nroles:\n  1.10: { can: [7.0], description: 1.20 }\naccess:\n  /: { 1.10: [True] }\n`,
      '3:24: identities.a.aws.account: must be a string: write "012345678901", in quotes',
      '4:40: identities.b.gitlab.branch: must be a string: write "1.10", in quotes',
      '6:17: roles.1.10.can[0]: must be a string: write "7.0", in quotes',
      '6:36: roles.1.10.description: must be a string: write "1.20", in quotes',
      '8:15: access./.1.10[0]: must be a string: write "True", in quotes',
    ],
    "an identity twice in a row": [
      `${rest}identities: { a: { google: { uniqueId: "107517467455664443765" } } }\naccess: { /: { viewer: [a, a] } }\n`,
      "3:28: access./.viewer[1]: a has viewer here already",
    ],
    "an identity without a relationship, and with two": [
      `${rest}identities:\n  a: {}\n  b: { aws: { account: "123456789012", role: r }, claimMatch: {} }\n  c: { google: { uniqueId: "107517467455664443765" }, aws: { account: "123456789012", role: r } }\n`,
      "3:3: identities.a: names no workload that can assume it; give one of github, gitlab, buildkite, kubernetes, google, aws, claimMatch, staticKeys, awsIdentity",
      "4:51: identities.b.claimMatch: only one of github, gitlab, buildkite, kubernetes, google, aws, claimMatch, staticKeys, awsIdentity may be given; there is aws already",
      "5:55: identities.c.aws: only one of github, gitlab, buildkite, kubernetes, google, aws, claimMatch, staticKeys, awsIdentity may be given; there is google already",
    ],
    "a wrong preset": [
      `${rest}identities:\n  a: { github: { repository: acme/images } }\n  b: { github: { repository: acme/images, branch: m, tag: t } }\n  c: { gitlab: { projct: a/b, branch: 1.0 } }\n`,
      "3:8: identities.a.github: one of branch, tag, environment, event is required",
      "4:59: identities.b.github.tag: only one of branch, tag, environment, event may be given",
      "5:8: identities.c.gitlab: project is required",
      "5:26: identities.c.gitlab.projct: unknown argument; did you mean project?",
      '5:39: identities.c.gitlab.branch: must be a string: write "1.0", in quotes',
    ],
    "http issuers": [
      `${rest}identities:\n  a: { claimMatch: { issuer: http://i.example, subject: s } }\n  b: { kubernetes: { issuer: http://i.example, namespace: n, serviceAccount: s } }\n`,
      "3:30: identities.a.claimMatch.issuer: must be https: https://i.example",
      "4:30: identities.b.kubernetes.issuer: must be https: https://i.example",
    ],
    "bad patterns": [
      `${rest}identities:\n  a: { claimMatch: { issuer: https://i.example, subjectPattern: "a(", subjct: s } }\n  b: { claimMatch: { issuer: https://i.example } }\n`,
      "3:65: identities.a.claimMatch.subjectPattern: must be an RE2 pattern: error parsing regexp: missing closing ): `a(`",
      "3:71: identities.a.claimMatch.subjct: claimMatch has no such field; did you mean subject?",
      "4:8: identities.b.claimMatch.subject: one of subject, subjectPattern must be set",
    ],
    "misspelt fields that are required": [
      `${rest}identities:\n  a: { claimMatch: { isuer: https://i.example, subjct: s } }\n`,
      "3:22: identities.a.claimMatch.isuer: claimMatch has no such field; did you mean issuer?",
      "3:48: identities.a.claimMatch.subjct: claimMatch has no such field; did you mean subject?",
    ],
    "patterns that match everything, or the workloads of strangers": [
      `${rest}identities:
  a: { claimMatch: { issuer: https://i.example, subjectPattern: ".*" } }
  b: { claimMatch: { issuerPattern: "https://.*", subject: s } }
  c: { claimMatch: { issuer: https://token.actions.githubusercontent.com, subjectPattern: "repo:[^:]+:pull_request" } }
  d: { claimMatch: { issuer: https://i.example, subject: s, claimPatterns: { ref: ".+" } } }
  e: { claimMatch: { issuer: https://token.actions.githubusercontent.com, subjectPattern: "repo:.*", claims: { repository_owner_id: "65" } } }
  g: { claimMatch: { issuerPattern: 'https://.*\\.example\\.com', subject: s } }
  i: { claimMatch: { issuer: https://token.actions.githubusercontent.com, subjectPattern: "repo:acme/.*" } }
`,
      "3:65: identities.a.claimMatch.subjectPattern: matches every subject of the issuer; name the workload",
      "4:37: identities.b.claimMatch.issuerPattern: matches every issuer, so anyone can sign in; give issuer, the one that you mean",
      "5:91: identities.c.claimMatch.subjectPattern: matches the workloads of every customer of https://token.actions.githubusercontent.com; name the organization",
      "6:83: identities.d.claimMatch.claimPatterns.ref: matches everything; give the values that you mean, or leave it out",
      '8:37: identities.g.claimMatch.issuerPattern: matches the issuers of anyone who registers a host, such as "someone-else"; give issuer, the one that you mean',
    ],
    "a role used above its group, or beside it": [
      `${rest}groups: { platform: , platform-2: }\nidentities: { a: { google: { uniqueId: "107517467455664443765" } } }\nroles:\n  publisher: { in: platform, can: [repo.list] }\naccess:\n  platform: { publisher: [a] }\n  /: { publisher: [a] }\n  platform-2: { publisher: [a] }\n`,
      "8:8: access./.publisher: role publisher belongs to platform, so it can be given there and below, not at /",
      "9:17: access.platform-2.publisher: role publisher belongs to platform, so it can be given there and below, not at platform-2",
    ],
    "an empty can, no can, and capabilities that do not exist": [
      `${rest}roles:\n  a: { can: [] }\n  b: {}\n  c: { can: [repo.lst, repo.list, CAP_REPO_LIST] }\n  viewer: { can: [repo.list] }\n`,
      "3:13: roles.a.can: must have at least one capability, such as repo.list",
      "4:3: roles.b: needs can: a list of capabilities, such as [repo.list]",
      "5:14: roles.c.can[0]: there is no capability repo.lst; did you mean repo.list?",
      "5:35: roles.c.can[2]: CAP_REPO_LIST is here twice",
      "6:3: roles.viewer: viewer is a built-in role; choose another key, and give name where it must be viewer",
    ],
    "wrong shapes, and the rest all the same": [
      `${rest}groups: { Data: , "a/b": }\nidentities: [a]\nroles: { x: { can: repo.list } }\naccess: { /: { viewer: a, x: [b] } }\n`,
      '2:11: groups.Data: name must match "^[a-z0-9 ._-]{1,}$"; the key is the name unless name is given',
      '2:19: groups.a/b: a key of a group must not contain "/": write the group below its parent, in groups',
      "3:13: identities: must be a map",
      "4:10: roles.x: needs can: a list of capabilities, such as [repo.list]",
      "4:20: roles.x.can: must be a list",
      "5:24: access./.viewer: must be a list",
      "5:31: access./.x[0]: there is no identity b; declare it in identities",
    ],
    "no YAML": [
      "organization: [acme\n",
      "2:1: is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    "two documents": ["organization: acme\n---\na: b\n", "2:1: a second document begins here; the file may hold one"],
    "an empty file": [
      "# nothing\n",
      "1:1: must be a map with organization, groups, identities, roles and access; `npx pulumi-irm init` writes an example",
    ],
  }),
)("%s", (_, [text, ...mistakes]) => {
  expect(mistakesOf(text)).toEqual(mistakes.map((mistake) => `access.yaml:${mistake}`));
});
