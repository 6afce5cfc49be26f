// A policy as a graph: matched with what the API says by names, and the whole truth of its organization.
import { describe, expect, test } from "vitest";
import { accessChange } from "../../../access/graph/effective-access.ts";
import type { AccessGraph } from "../../../access/graph/graph.ts";
import { readLive } from "../../../access/graph/live.ts";
import { policyGraph } from "../../../access/policy/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import type { Policy } from "../../../access/policy/policy.ts";
import { serve } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { clientOf } from "../client.ts";

const ISSUER = "https://token.actions.githubusercontent.com";

const api = await serve();
const platform: string = await createUid(api, "groups", api.organization, { name: "platform" });
const registry: string = await createUid(api, "groups", platform, { name: "registry" });
const role = { name: "publisher", capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] };
const publisher: string = await createUid(api, "roles", platform, role);
const claimMatch = { issuer: ISSUER, subject: "repo:acme/images:ref:refs/heads/main" };
const release: string = await createUid(api, "identities", platform, { name: "release", claimMatch });
await createUid(api, "roleBindings", registry, { identityUid: release, roleUid: publisher });
const live: AccessGraph = (await readLive(clientOf(api))).graph;

const policyOf = (value: object): Policy => {
  const { policy, mistakes } = parsePolicy(value);
  expect(mistakes).toEqual([]);
  return policy as Policy;
};

const declared = () => ({
  organization: { uid: api.organization } as object | string,
  groups: { platform: { groups: { registry: {} } } } as object,
  identities: {
    release: { in: "platform", github: { repository: "acme/images", branch: "main" } },
  } as Record<string, object>,
  roles: { publisher: { in: "platform", can: ["tag.create", "repo.list"] } },
  access: { "platform/registry": { publisher: ["release"] } } as object,
});

/** `gains`, `losses` of identities by name, and what each is called */
const changeTo = (graph: AccessGraph) =>
  accessChange(live, graph).map(({ identity, gains, losses }) => ({
    name: (graph.identities.get(identity) ?? live.identities.get(identity))?.name,
    gains: gains.map(({ group, capability }) => `${group} ${capability}`),
    losses: losses.length,
  }));

describe("a policy", () => {
  test("that says what exists has its uids, and changes no access but that of what it lacks", () => {
    const { graph, mistakes } = policyGraph(policyOf(declared()), live);
    expect(mistakes).toEqual([]);
    expect([...graph.groups.keys()].sort()).toEqual([api.organization, platform, registry].sort());
    expect(graph.identities.get(release)).toEqual(live.identities.get(release));
    expect(graph.roles.get(publisher)).toEqual(live.roles.get(publisher));
    expect([...graph.bindings.values()]).toEqual([...live.bindings.values()].filter(({ group }) => group === registry));
    // The owner of the server stands in no policy here.
    const [owner, ...others] = changeTo(graph);
    expect(owner).toMatchObject({ gains: [], losses: expect.any(Number) });
    expect(others).toEqual([]);
  });

  test("finds its organization by name too", () => {
    const { name } = live.groups.get(api.organization) ?? {};
    const { graph } = policyGraph(policyOf({ ...declared(), organization: name }), live);
    expect(graph.groups.has(registry)).toBe(true);
  });

  test("gives what does not exist yet an id of its own, and its access is a gain", () => {
    const { graph, mistakes } = policyGraph(
      policyOf({
        ...declared(),
        groups: { platform: { groups: { registry: {}, clusters: { groups: { eu: {} } } } } },
        identities: {
          ...declared().identities,
          deploy: {
            in: "platform/clusters",
            kubernetes: { issuer: "https://oidc.example.com/id/7", namespace: "prod", serviceAccount: "deployer" },
          },
        },
        access: {
          "platform/registry": { publisher: ["release"] },
          "platform/clusters/eu": { publisher: ["deploy"] },
          "/": { "apk.pull": ["release"] },
        },
      }),
      live,
    );
    expect(mistakes).toEqual([]);
    expect(graph.groups.get("policy:group:platform/clusters/eu")).toEqual({
      id: "policy:group:platform/clusters/eu",
      uid: null,
      name: "eu",
      parent: "policy:group:platform/clusters",
    });
    expect(graph.groups.get("policy:group:platform/clusters")?.parent).toBe(platform);
    expect(graph.identities.get("policy:identity:platform/clusters/deploy")).toMatchObject({
      uid: null,
      name: "deploy",
    });
    const gains = (group: string, ...capabilities: string[]) => capabilities.map((one) => `${group} ${one}`);
    expect(changeTo(graph).slice(1)).toEqual([
      { name: "release", gains: gains(api.organization, "apk.blobs.get", "apk.list", "groups.list"), losses: 0 },
      { name: "deploy", gains: gains("policy:group:platform/clusters/eu", "repo.list", "tag.create"), losses: 0 },
    ]);
  });

  test("of another organization leaves this one as it is", () => {
    const { graph, mistakes } = policyGraph(policyOf({ ...declared(), organization: "new" }), live);
    expect(mistakes).toEqual([]);
    expect(graph.groups.get("policy:group:/")).toMatchObject({ uid: null, name: "new", parent: null });
    expect(graph.groups.has(registry)).toBe(true);
    expect(changeTo(graph)).toEqual([
      expect.objectContaining({
        name: "release",
        losses: 0,
        gains: expect.arrayContaining([expect.stringContaining("policy:")]),
      }),
    ]);
  });

  test("reports live records that it cannot tell apart, and built-in roles that the service lacks", () => {
    const identities = new Map(live.identities);
    const known = identities.get(release);
    if (known) identities.set("copy", { ...known, id: "copy" });
    const roles = new Map(live.roles);
    for (const [id, role] of roles) if (role.name === "viewer") roles.delete(id);
    const { mistakes } = policyGraph(policyOf({ ...declared(), access: { platform: { viewer: ["release"] } } }), {
      ...live,
      identities,
      roles,
    });
    expect(mistakes.map(({ path, text }) => `${path}: ${text}`)).toEqual([
      `identities.release: the API has 2 identities of this name: ${release}, copy`,
      "viewer: the API shows no built-in role of this name; did you mean console_viewer or actions.viewer or advisories.viewer?",
    ]);
    const other = { id: "f".repeat(40), uid: "f".repeat(40), name: "twin", parent: null };
    const twins = new Map([...live.groups, [other.id, other], ["twin", { ...other, id: "twin" }]]);
    expect(policyGraph(policyOf({ organization: "twin" }), { ...live, groups: twins }).mistakes).toEqual([
      {
        path: "organization",
        text: `the API has 2 organizations named twin: ${other.id}, twin; give the uid of one`,
        place: undefined,
      },
    ]);
    const hidden = new Map([[other.id, { ...other, name: other.uid }]]);
    expect(policyGraph(policyOf({ organization: "acme" }), { ...live, groups: hidden }).mistakes[0]?.text).toBe(
      `the API does not show the name of ${other.uid}; give organization: { uid: … }`,
    );
  });

  test("takes the time of static keys that the service chose", () => {
    const staticKeys = { issuer: "https://i.example", subject: "s", issuerKeys: '{"keys":[]}' };
    const expirationTime = "2027-01-01T00:00:00Z";
    const identities = new Map(live.identities);
    const known = identities.get(release);
    if (known) identities.set(release, { ...known, relationship: { staticKeys: { ...staticKeys, expirationTime } } });
    const policy = policyOf({ ...declared(), identities: { release: { in: "platform", staticKeys } } });
    const { graph } = policyGraph(policy, { ...live, identities });
    expect(graph.identities.get(release)?.relationship).toEqual({ staticKeys: { ...staticKeys, expirationTime } });
  });

  test("compares the time of static keys as an instant", () => {
    const keys = (expirationTime: string) => ({
      staticKeys: { issuer: "https://i.example", subject: "s", issuerKeys: '{"keys":[]}', expirationTime },
    });
    const relationship = keys("2027-03-01T00:00:00.000Z");
    const policy = policyOf({
      ...declared(),
      identities: { release: { in: "platform", ...keys("2027-03-01T00:00:00Z") } },
    });
    expect(policyGraph(policy, live).graph.identities.get(release)?.relationship).toEqual(relationship);
  });
});
