// A policy becomes groups, identities, roles and bindings; the examples of docs/policy.md and docs/policy.md#tests are real.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { offlineText, TABLE } from "../../../access/roles/lock.ts";
import { runIrm } from "../../support/irm.ts";
import { testFolder } from "../../support/test-folder.ts";
import { reviewBetween } from "../format/reviews.ts";
import { addProvider, graphOf, mapGroup, ROOT, roleUid, uid } from "../graphs.ts";
import { mistakesOf, policyOf } from "./files.ts";

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

test("a policy file becomes groups, identities, roles and bindings, and means the same as an object", () => {
  const { groups, identities, roles, bindings, organization } = policyOf(EXAMPLE);
  expect(organization).toEqual({ name: "acme" });
  expect([...groups.values()].map(({ path, parent, name }) => [path, parent, name])).toEqual([
    ["platform", "/", "platform"],
    ["platform/registry", "platform", "registry"],
    ["platform/clusters", "platform", "clusters"],
  ]);
  const issuer = "https://token.actions.githubusercontent.com";
  expect(identities.get("release")).toMatchObject({
    ...{ key: "release", name: "release", group: "platform", place: { line: 5, column: 3 } },
    relationship: { claimMatch: { issuer, subject: "repo:acme/images:ref:refs/heads/main" } },
  });
  expect(identities.get("review")?.group).toBe("/");
  expect(roles.get("publisher")?.capabilities).toEqual(["manifest.create", "repo.create", "repo.list", "tag.create"]);
  expect(bindings).toMatchObject([
    { group: "platform/registry", role: "publisher", identity: "release", place: { line: 11 } },
    { group: "/", role: "viewer", identity: "review", place: { line: 12 } },
  ]);
  const { policy, mistakes } = parsePolicy(parse(EXAMPLE));
  expect(mistakes).toEqual([]);
  const plain = (value: unknown) =>
    JSON.stringify(value, (key, one) => (key === "place" ? undefined : one instanceof Map ? [...one.values()] : one));
  expect(plain(policy)).toBe(plain(policyOf(EXAMPLE)));
});

test("a policy file may leave sections empty, name records, and give uids and relationships", () => {
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

test("a policy file has keys as they are written: 1.10 is not 1.1", () => {
  const policy = policyOf(`organization: acme
groups: { 1.10: {}, 007: {}, true: {} }
roles: { 2.0: { in: "1.10", can: [repo.list] } }
identities: { 1: { in: "007", google: { uniqueId: "107517467455664443765" } } }
access: { 1.10: { 2.0: ["1"] } }
`);
  expect([...policy.groups.keys()].sort()).toEqual(["007", "1.10", "true"]);
  expect(policy.bindings).toMatchObject([{ group: "1.10", role: "2.0", identity: "1" }]);
});

test("a policy file may use anchors, aliases and merge keys", () => {
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

test("the section people names roles by identity provider and external group", () => {
  const { people } = policyOf(`
organization: acme
roles: { auditor: { can: [groups.list] } }
people:
  acme-sso: { externalGroups: { Platform-SRE: [owner, auditor], "CN=Audit,OU=It": [auditor] } }
`);
  expect([...(people.get("acme-sso")?.externalGroups ?? [])]).toEqual([
    ["Platform-SRE", ["owner", "auditor"]],
    ["CN=Audit,OU=It", ["auditor"]],
  ]);
});

test("the section people reports every mistake with its place", () => {
  expect(
    mistakesOf(`organization: acme
groups: { platform: {} }
roles: { publisher: { in: platform, can: [tag.create] } }
people:
  Acme SSO: { externalGroups: { a: [veiwer] } }
  sso: { defaultRole: viewer, externalGroups: { sre: [publisher, ownr, owner, owner], empty: [] }, groups: [] }
  none: {}
  nothing:
  shape: { externalGroups: { sre: owner } }
`),
  ).toEqual([
    'access.yaml:5:3: people.Acme SSO: name must match "^[a-z0-9 ._-]{1,}$"; the key is the name of an identity provider',
    "access.yaml:5:37: people.Acme SSO.externalGroups.a[0]: there is no role veiwer; did you mean viewer?",
    "access.yaml:6:10: people.sso.defaultRole: AccessPolicy changes no identity provider, and so not its default role; set defaultRole where the IdentityProvider is declared, and remove it here",
    "access.yaml:6:55: people.sso.externalGroups.sre[0]: role publisher belongs to platform, so it can be given there and below, not at /",
    "access.yaml:6:66: people.sso.externalGroups.sre[1]: there is no role ownr; did you mean owner?",
    "access.yaml:6:79: people.sso.externalGroups.sre[3]: has owner already",
    "access.yaml:6:94: people.sso.externalGroups.empty: must have at least one role, such as viewer",
    "access.yaml:6:100: people.sso.groups: there is no such field here; did you mean externalGroups?",
    "access.yaml:7:3: people.none: needs externalGroups",
    "access.yaml:8:3: people.nothing: needs externalGroups",
    "access.yaml:9:35: people.shape.externalGroups.sre: must be a list",
  ]);
});

test("the section people may stand in several files, each identity provider in one of them", () => {
  const people = (...names: string[]) =>
    `people: { ${names.map((name) => `${name}: { externalGroups: { a: [viewer] } }`).join(", ")} }\n`;
  const text = `organization: acme\ninclude: [more.yaml]\n${people("sso")}`;
  expect(mistakesOf(text, { "more.yaml": people("sso", "other") })).toEqual([
    "more.yaml:1:11: people.sso: is in access.yaml:3:11 already",
  ]);
});

test("the section people is a mistake in a run that creates the organization", () => {
  const textsOf = (organization: unknown, people: unknown, createsOrganization: boolean) =>
    parsePolicy({ organization, people }, { builtIn: [TABLE], createsOrganization }).mistakes.map(
      ({ path, text }) => `${path}: ${text}`,
    );
  const groups = { sso: { externalGroups: { SRE: ["viewer"] } } };
  expect(textsOf("acme", groups, false)).toEqual([]);
  expect(textsOf("acme", groups, true)).toEqual([
    "people.sso: this run creates the organization, so it has no identity provider yet; add people once it has one",
  ]);
  expect(textsOf({ uid: "f".repeat(40) }, groups, true)).toEqual([]);
});

const live = graphOf({ roles: { viewer: ["repo.list"], owner: ["role_bindings.create"] } });
mapGroup(live, "m", addProvider(live, uid("sso"), "sso", roleUid("viewer")), "Old", roleUid("owner"));
const subjectsOf = (people: string): string[] => {
  const { graph, mistakes } = policyGraph(policyOf(`organization: { uid: "${ROOT}" }\n${people}\n`), live);
  expect(mistakes).toEqual([]);
  const { report } = reviewBetween(live, newGraph(graph));
  return report.people.map(({ subject, gains, losses }) => `${subject} +${gains.length} -${losses.length}`);
};

test("in the graph of a policy, people keep what they have without the section, or get the roles that it names", () => {
  expect(subjectsOf("")).toEqual([]);
  expect(subjectsOf("people: { sso: { externalGroups: { Old: [owner] } } }")).toEqual([]);
  expect(subjectsOf("people: { sso: { externalGroups: { Old: [owner], SRE: [owner] } } }")).toEqual([
    "external group SRE of sso +1 -0",
  ]);
  expect(subjectsOf("people: { soo: { externalGroups: { SRE: [owner] } } }")).toContain(
    "external group SRE of soo +1 -0",
  );
});

const folder = testFolder();

const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
const page = read("policy.md");
const examples = [...page.matchAll(/```yaml\n(.*?)```\n.*?```\n\$ npx pulumi-irm check access\.yaml\n(.*?)```/gs)];

test("docs/policy.md shows the output of each of its examples", async () => {
  expect(examples).toHaveLength(2);
  for (const [, text = "", output] of examples) {
    const file = folder.write("access.yaml", text);
    const { stdout, stderr } = await runIrm("check", file);
    expect(`${stdout}${stderr}`.replaceAll(file, "access.yaml")).toBe(output);
  }
});

test("docs/policy.md#tests shows the output of its tests on the policy of docs/policy.md, before and after an edit", async () => {
  const [, policy = ""] = examples[0] ?? [];
  const [, tests = "", output] =
    /```yaml\n(.*?)```.*?```\n\$ npx pulumi-irm test\n(.*?)```/s.exec(page.split("\n## Tests\n")[1] ?? "") ?? [];
  const viewer = "/: { viewer: [review] }";
  expect(policy).toContain(viewer);
  folder.write("access.tests.yaml", tests);
  for (const [text, code, printed] of [
    [policy, 0, output?.replace(/FAILED(.*\n) .*\n/, "passed$1").replace("1 failed", "all passed")],
    [policy.replace(viewer, "/: { viewer: [review], registry.push: [release] }"), 3, output],
  ] as const) {
    const stderr = `${offlineText(undefined)}\n`;
    expect(await runIrm("test", folder.write("access.yaml", text))).toEqual({ code, stdout: printed, stderr });
  }
});
