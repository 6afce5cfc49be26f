// A policy as a graph: matched with what the API says by names, and the whole truth of its organization.
import { expect, test } from "vitest";
import { accessChange } from "../../../access/graph/effective-access.ts";
import { type AccessGraph, newGraph } from "../../../access/graph/graph.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import type { Policy } from "../../../access/policy/policy.ts";
import { policyStackIn } from "../../../access/policy/stack.ts";
import type { Report } from "../../../access/review/report.ts";
import { reviewBetween } from "../format/reviews.ts";
import { addIdentity, changed, graphOf, ROOT, roleUid, uid } from "../graphs.ts";
import { objectOf, policyResources } from "./files.ts";

const GITHUB = "https://token.actions.githubusercontent.com";
const [platform, registry, release] = [uid("platform"), uid("platform/registry"), uid("platform/release")];
const publisher = roleUid("platform/publisher");

const live = graphOf({
  name: "dev",
  groups: ["platform", "platform/registry"],
  roles: {
    ...{ owner: ["groups.list", "repo.list"], viewer: ["repo.list"], "console.viewer": ["repo.list"] },
    ...{ "apk.pull": ["apk.list", "groups.list"], "platform/publisher": ["repo.list", "tag.create"] },
  },
  identities: { admin: {}, "platform/release": { issuer: GITHUB, subject: "repo:acme/images:ref:refs/heads/main" } },
  access: { "/": { owner: ["admin"] }, "platform/registry": { "platform/publisher": ["platform/release"] } },
});

const IDENTITIES = { release: { in: "platform", github: { repository: "acme/images", branch: "main" } } };
const policyOf = (own: object = {}) =>
  objectOf({
    organization: { uid: ROOT },
    groups: { platform: { groups: { registry: {} } } },
    identities: IDENTITIES,
    roles: { publisher: { in: "platform", can: ["tag.create", "repo.list"] } },
    access: { "platform/registry": { publisher: ["release"] } },
    ...own,
  });

/** `gains` and how many losses, of identities by name. */
const changeTo = (graph: AccessGraph) =>
  accessChange(live, graph).map(({ identity, gains, losses }) => ({
    name: (graph.identities.get(identity) ?? live.identities.get(identity))?.name,
    gains: gains.map(({ group, capability }) => `${group} ${capability}`),
    losses: losses.length,
  }));

test("a policy that says what exists, of an organization by uid or name, has its uids, and changes no access but that of what it lacks", () => {
  const { graph, mistakes } = policyGraph(policyOf(), live);
  expect(mistakes).toEqual([]);
  expect([...graph.groups.keys()].sort()).toEqual([ROOT, platform, registry].sort());
  expect(graph.identities.get(release)).toEqual(live.identities.get(release));
  expect(graph.roles.get(publisher)).toEqual(live.roles.get(publisher));
  expect([...graph.bindings.values()]).toEqual([...live.bindings.values()].filter(({ group }) => group === registry));
  expect(changeTo(graph)).toEqual([{ name: "admin", gains: [], losses: 2 }]);
  expect(policyGraph(policyOf({ organization: "dev" }), live).graph.groups.has(registry)).toBe(true);
});

test("gives what does not exist yet an id of its own, and its access is a gain", () => {
  const issuer = "https://oidc.example.com/id/7";
  const deploy = { in: "platform/clusters", kubernetes: { issuer, namespace: "prod", serviceAccount: "deployer" } };
  const { graph, mistakes } = policyGraph(
    policyOf({
      groups: { platform: { groups: { registry: {}, clusters: { groups: { eu: {} } } } } },
      identities: { ...IDENTITIES, deploy },
      access: {
        "platform/registry": { publisher: ["release"] },
        "platform/clusters/eu": { publisher: ["deploy"] },
        "/": { "apk.pull": ["release"] },
      },
    }),
    live,
  );
  expect(mistakes).toEqual([]);
  const [clusters, eu] = ["platform/clusters", "platform/clusters/eu"].map((path) => `policy:group:${path}`) as [
    string,
    string,
  ];
  expect(graph.groups.get(eu)).toEqual({ id: eu, uid: null, name: "eu", parent: clusters });
  expect(graph.groups.get(clusters)?.parent).toBe(platform);
  expect(graph.identities.get("policy:identity:platform/clusters/deploy")).toMatchObject({ uid: null, name: "deploy" });
  expect(changeTo(graph).slice(1)).toEqual([
    { name: "release", gains: [`${ROOT} apk.list`, `${ROOT} groups.list`], losses: 0 },
    { name: "deploy", gains: [`${eu} repo.list`, `${eu} tag.create`], losses: 0 },
  ]);
});

test("of another organization leaves this one as it is", () => {
  const { graph, mistakes } = policyGraph(policyOf({ organization: "new" }), live);
  expect(mistakes).toEqual([]);
  expect(graph.groups.get("policy:group:/")).toMatchObject({ uid: null, name: "new", parent: null });
  expect(graph.groups.has(registry)).toBe(true);
  const gains = ["repo.list", "tag.create"].map((one) => `policy:group:platform/registry ${one}`);
  expect(changeTo(graph)).toEqual([{ name: "release", losses: 0, gains }]);
});

test("reports live records that it cannot tell apart, and built-in roles that the service lacks", () => {
  const textsOf = (policy: ReturnType<typeof policyOf>, graph: AccessGraph) =>
    policyGraph(policy, graph).mistakes.map(({ path, text }) => `${path}: ${text}`);
  const odd = changed(live, (graph) => {
    addIdentity(graph, "copy", "release", platform, {});
    graph.roles.delete(roleUid("viewer"));
  });
  expect(textsOf(policyOf({ access: { platform: { viewer: ["release"] } } }), odd)).toEqual([
    `identities.release: the API has 2 identities of this name: ${release}, copy`,
    "viewer: the API shows no built-in role of this name; did you mean console.viewer?",
  ]);
  const [one, other] = ["f".repeat(40), "e".repeat(40)];
  const twins = graphOf({ name: "twin", root: one }, graphOf({ name: "twin", root: other }));
  expect(textsOf(objectOf({ organization: "twin" }), twins)).toEqual([
    `organization: the API has 2 organizations named twin: ${other}, ${one}; give the uid of one`,
  ]);
  expect(textsOf(objectOf({ organization: "acme" }), graphOf({ name: one, root: one }))).toEqual([
    `organization: the API does not show the name of ${one}; give organization: { uid: … }`,
  ]);
});

test("takes the time of static keys that the service chose, and compares that of the policy as an instant", () => {
  const keys = { issuer: "https://i.example", subject: "s", issuerKeys: '{"keys":[]}' };
  const expirationTime = "2027-03-01T00:00:00.000Z";
  const known = changed(live, ({ identities }) =>
    identities.set(release, {
      ...identities.get(release),
      relationship: { staticKeys: { ...keys, expirationTime } },
    } as never),
  );
  for (const own of [{}, { expirationTime: "2027-03-01T00:00:00Z" }]) {
    const policy = policyOf({ identities: { release: { in: "platform", staticKeys: { ...keys, ...own } } } });
    expect(policyGraph(policy, known).graph.identities.get(release)?.relationship).toEqual({
      staticKeys: { ...keys, expirationTime },
    });
  }
});

const issuer = "https://issuer.example";
const [TEAM, RELEASE] = [uid("team"), uid("team/release")];

/** `release` is of the stack, `by-hand` is not; both are viewers of team. */
const managed = graphOf({
  groups: ["team"],
  roles: { viewer: ["repo.list"] },
  identities: { "team/release": { issuer, subject: "s" }, "team/by-hand": { issuer, subject: "t" } },
  access: { team: { viewer: ["team/release", "team/by-hand"] } },
});

const stackWith = (release: string) =>
  policyResources("acme", ["Group", "acme/team", TEAM], ["Identity", "acme:identity/release", release]);

const policyWith = (identities: object, access: object): Policy =>
  objectOf({ organization: "acme", groups: { team: {} }, identities, access });

const review = (policy: Policy, stack: ReturnType<typeof stackWith> | undefined): Report => {
  const wanted = policyGraph(policy, managed, stack && policyStackIn(stack, policy));
  expect(wanted.mistakes).toEqual([]);
  return reviewBetween(managed, newGraph(wanted.graph)).report;
};
const of = (report: Report, name: string) =>
  report.identities.filter((one) => [one.name, one.nameBefore].includes(name));

const match = (subject: string) => ({ in: "team", claimMatch: { issuer, subject } });

test("a policy of a stack that renames a record under its key keeps it", () => {
  const policy = policyWith({ release: { ...match("s"), name: "publish" } }, { team: { viewer: ["release"] } });
  const kept = { uid: RELEASE, nameBefore: "release", name: "publish", gains: [], losses: [] };
  expect(of(review(policy, stackWith(RELEASE)), "publish")).toMatchObject([kept]);
  // By names alone the same looks like a new identity.
  expect(of(review(policy, undefined), "publish")).toMatchObject([{ uid: null, name: "publish", change: "created" }]);
});

test("a policy of a stack that renames a key gets another record, unless it says what the key was", () => {
  const access = { team: { viewer: ["publish"] } };
  const renamed = review(policyWith({ publish: match("s") }, access), stackWith(RELEASE));
  expect(renamed.findings.map(({ rule, subject }) => [rule, subject])).toContainEqual(["identity-replaced", RELEASE]);
  const kept = review(policyWith({ publish: { ...match("s"), was: "release" } }, access), stackWith(RELEASE));
  expect(of(kept, "publish")).toMatchObject([{ uid: RELEASE, nameBefore: "release" }]);
  const policy = policyWith({ release: match("s") }, { team: { viewer: ["release"] } });
  expect(of(review(policy, stackWith(uid("elsewhere"))), "release")).toEqual([]);
});

test("a policy of a stack is found by its organization; of several, none can be meant", () => {
  const policy = policyWith({ release: match("s") }, {});
  expect(policyStackIn([], policy)).toBeUndefined();
  expect(() => policyStackIn([...stackWith(RELEASE), ...policyResources("second")], policy)).toThrow(
    "the stack has 2 policies of this organization: acme, second",
  );
});
