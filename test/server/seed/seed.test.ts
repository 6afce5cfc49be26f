// Seed files that are applied: every record in its place, once, and no secret in the database.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { capabilityName } from "../../../schema/index.ts";
import { createServer, parseRoles, parseSeed, SeedError } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { testFolder } from "../../support/test-folder.ts";
import { errorOf } from "../../support/thrown.ts";

const folder = testFolder();

const SECRET = "seeded-client-secret";
const GOOD = `
organization: { name: acme.example, description: The organization, kind: ORG_KIND_CUSTOMER, verified: true }
groups:
  # Children may come before their parents.
  - { name: ci, parent: eng/platform }
  - { name: platform, parent: eng, description: Runs things }
  - { name: eng }
roles: [{ name: deployer, group: eng, capabilities: [groups.list, CAP_REPO_LIST] }]
identities:
  - name: bot
    group: eng/platform
    description: Deploys
    claimMatch: { issuer: https://token.actions.githubusercontent.com, subjectPattern: "repo:acme/.*" }
  - { name: local, claimMatch: { issuer: dev-issuer, subject: me } }
  - { name: syncer, servicePrincipal: SERVICE_PRINCIPAL_CATALOG_SYNCER }
bindings:
  - { identity: eng/platform/bot, role: eng/deployer, group: eng/platform }
  - { identity: local, role: viewer }
  - { identity: local, role: 63921b2c44617e3f2603851537be0123af4a57d7, group: eng }
identityProviders:
  - { name: okta, description: People, defaultRole: viewer, oidc: { issuer: "https://idp.example", clientId: c, clientSecret: ${SECRET} } }
  - { name: entra, group: eng, defaultRole: eng/deployer, oidc: { issuer: "https://idp.example", client_id: c, pkceEnabled: true } }
externalGroupRoleMappings:
  - { identityProvider: okta, externalGroupId: Platform-SRE, role: owner }
  - { identityProvider: eng/entra, externalGroupId: Platform-SRE, role: viewer }
accountAssociations:
  - { name: clouds, amazon: { account: "123456789012" } }
  - { name: clouds, group: eng, github: { appInstallations: { 7: { installations: [{ installationId: 12 }] } } } }
repos:
  - name: nginx
    group: eng
    catalogTier: CATALOG_TIER_BASE
    aliases: ["nginx:latest"]
    customOverlay: { contents: { packages: [curl] } }
    readme: |
      # nginx

      A server.
    tags:
      - { name: latest, digest: "sha256:${"a".repeat(64)}" }
      - { name: "1.27", digest: "sha256:${"b".repeat(64)}", deprecated: true, bundles: [fips] }
  - { name: empty }
advisories:
  - { group: eng, advisoryId: CGA-aaaa-bbbb-cccc, author: a, artifactName: n, artifactType: apk, artifactArchitecture: x, componentName: c, componentLocation: l, componentType: t, events: [{ author: a, reviewState: 2, detection: { manual: {} } }] }
`;

const readAll = async (api: TestServer): Promise<Body> => {
  const all: Body = {};
  const kinds = [
    ...["groups", "roles", "roleBindings", "identityProviders", "externalGroupRoleMappings", "accountAssociations"],
    "identities",
  ];
  const paths = [...kinds.map((kind) => `${IAM}/${kind}`), `${REGISTRY}/repos`, `${REGISTRY}/tags`];
  for (const path of [...paths, "/vulnerabilities/v2beta1/advisories"]) {
    const { totalCount, skipped, ...list } = await api.ok("GET", path, { query: { page_size: 200 } });
    Object.assign(all, list);
  }
  // The development owner is seen again with each start.
  for (const identity of all.identities) delete identity.lastSeenTime;
  for (const { uid, name } of all.repos)
    all[`readme of ${name}`] = (await api.ok("GET", `${REGISTRY}/repos/${uid}/readme`)).content;
  return all;
};

describe("a good seed", () => {
  test("creates every record in its place, as the API shows it", async () => {
    const api = await serve({ seed: parseSeed(GOOD, "f.yaml") });
    const all = await readAll(api);
    const by = (list: string, key: string, value: string) => all[list].find((row: Body) => row[key] === value) as Body;
    const [eng, platform] = [by("groups", "name", "eng").uid, by("groups", "name", "platform").uid];
    const [okta, entra, nginx] = [
      by("identityProviders", "name", "okta"),
      by("identityProviders", "name", "entra"),
      by("repos", "name", "nginx"),
    ];
    const [owner, viewer] = [await api.role("owner"), await api.role("viewer")];
    const { organization } = api;
    const deployer = by("roles", "name", "deployer");
    const GITHUB = { appInstallations: { 7: { installations: [{ installationId: "12" }] } } };
    const ACME = { description: "The organization", kind: "ORG_KIND_CUSTOMER", verified: true };
    const ACTIONS = { issuer: "https://token.actions.githubusercontent.com", subjectPattern: "repo:acme/.*" };
    const OWNERS = { identityProviderUid: okta.uid, externalGroupId: "Platform-SRE", scope: organization };
    const OKTA = { description: "People", defaultRole: viewer, oidc: { issuer: "https://idp.example", clientId: "c" } };
    const ENTRA = { defaultRole: deployer.uid, oidc: { clientId: "c", pkceEnabled: true } };
    const IMAGE = { aliases: ["nginx:latest"], customOverlay: { contents: { packages: ["curl"] } } };
    const rows: [record: Body, parent: string | undefined, fields: Body][] = [
      [by("groups", "uid", organization), undefined, { name: "acme.example", ...ACME }],
      [by("groups", "name", "ci"), platform, {}],
      [by("groups", "name", "platform"), eng, {}],
      [by("identities", "name", "bot"), platform, { description: "Deploys", claimMatch: ACTIONS }],
      [by("identities", "name", "local"), organization, { claimMatch: { issuer: api.issuer, subject: "me" } }],
      [deployer, eng, { capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"] }],
      [okta, organization, OKTA],
      [entra, eng, ENTRA],
      [by("externalGroupRoleMappings", "roleUid", owner), okta.uid, OWNERS],
      [by("accountAssociations", "uid", organization), undefined, { amazon: { account: "123456789012" } }],
      [by("accountAssociations", "uid", eng), undefined, { github: GITHUB }],
      [nginx, eng, { catalogTier: "CATALOG_TIER_BASE", ...IMAGE }],
      [by("tags", "name", "1.27"), nginx.uid, { deprecated: true, bundles: ["fips"] }],
      [
        all.advisories[0],
        eng,
        { advisoryId: "CGA-aaaa-bbbb-cccc", events: [{ reviewState: "REVIEW_STATE_APPROVED" }] },
      ],
    ];
    for (const [record, parent, fields] of rows) {
      expect(record).toMatchObject(fields);
      if (parent !== undefined) expect(record.uid.slice(0, -17)).toBe(parent);
    }
    const counts = ["identities", "externalGroupRoleMappings", "tags", "advisories"].map((list) => all[list].length);
    expect(counts).toEqual([4, 2, 2, 1]); // and the development owner
    const triples = all.roleBindings.map((own: Body) => [own.identity.name, own.role.name, own.group.name].join(" "));
    expect(triples.toSorted()).toEqual(
      ["bot deployer platform", "local viewer acme.example", "local viewer eng", "owner owner acme.example"].toSorted(),
    );
    expect(nginx).not.toHaveProperty("readme");
    expect([all["readme of nginx"], all["readme of empty"]]).toEqual(["# nginx\n\nA server.\n", undefined]);
    // The grants of the file work: the identity is assumed and acts.
    const token = await api.token(by("identities", "name", "local").uid, { subject: "me" });
    expect((await api.ok("GET", `${IAM}/groups`, { token })).totalCount).toBe("4");
  });

  test("cannot name the development issuer without --dev", async () => {
    const seed = parseSeed(GOOD, "f.yaml");
    await expect(createServer({ seed })).rejects.toThrow(
      new SeedError("issuer dev-issuer stands for the development issuer: start the server with --dev"),
    );
  });

  test("needs only an organization with a name", () => {
    expect(parseSeed("organization: { name: a }", "f.yaml")).toEqual({
      organization: { name: "a" },
      groups: [],
      roles: [],
      identities: [],
      bindings: [],
      repos: [],
    });
  });

  test("includes the example of docs/server.md", async () => {
    const page = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
    const [, yaml] = /```yaml\n(.*?)```/s.exec(page) as unknown as [string, string];
    const api = await serve({ seed: parseSeed(yaml, "docs/server.md") });
    const { tags, advisories, identityProviders, externalGroupRoleMappings, accountAssociations } = await readAll(api);
    const lists = [tags, advisories, identityProviders, externalGroupRoleMappings, accountAssociations];
    expect(lists.map((list) => list.length)).toEqual([1, 1, 1, 1, 1]);
  });

  test("changes nothing on a database that has it already, and keeps later changes", async () => {
    const options = { store: folder.path("seeded.db"), seed: parseSeed(GOOD, "f.yaml"), ids: undefined };
    const first = await serve(options);
    const { tags, groups, identityProviders, accountAssociations } = await readAll(first);
    const moved = { name: tags[0].name, digest: `sha256:${"c".repeat(64)}` };
    first.clock.advance(1000);
    await createRecord(first, "tags", tags[0].uid.slice(0, -17), moved);
    for (const [kind, { uid }] of Object.entries({
      groups: groups[0],
      identityProviders: identityProviders[0],
      accountAssociations: accountAssociations[0],
    }))
      await first.ok("PATCH", `${IAM}/${kind}/${uid}`, { body: { description: "changed since" } });
    const before = await readAll(first);
    await first.close();
    // Its port is its name: elsewhere the development issuer would be another.
    const second = await serve({ ...options, port: Number(new URL(first.baseUrl).port) });
    expect(second.organization).toBe(first.organization);
    expect(await readAll(second)).toEqual(before);
  });
});

test("no secret is in the database: no client secret, and of an invite's code only the hash", async () => {
  const store = folder.path("secret.db");
  const api = await serve({ store, seed: parseSeed(GOOD, "f.yaml") });
  const secret = "secret-that-was-sent";
  const { identityProviders } = await api.ok("GET", `${IAM}/identityProviders`);
  await api.ok("PATCH", `${IAM}/identityProviders/${identityProviders[0].uid}`, {
    body: { oidc: { clientSecret: secret } },
  });
  const body = { roleUid: await api.role("viewer"), ttl: "60s" };
  const { code, keyId } = await createRecord(api, "groupInvites", api.organization, body);
  await api.close();
  const file = readFileSync(store, "latin1");
  for (const text of [SECRET, secret, code, code.slice("cginvite_".length)]) expect(file).not.toContain(text);
  // The control: the stored parts exist.
  expect(file).toContain(keyId);
  expect(file).toContain("https://idp.example");
});

// The built-in roles that the user of a server gives.
const ROLES = {
  owner: ["groups.list", "role_bindings.create", "role_bindings.list"],
  viewer: ["groups.list"],
  ops: ["repo.list"],
};
const GRANTING_OPS =
  "{ organization: { name: acme }, identities: [{ name: ci, claimMatch: { issuer: 'https://a.example.com', subject: s } }], bindings: [{ identity: ci, role: ops }] }";

const problemsOf = (text: string): string => errorOf(() => parseRoles(text, "roles.yaml")).message;

describe("the built-in roles of a server", () => {
  test("are those of the option and no others, and a seed may grant them", async () => {
    const api = await serve({ roles: ROLES, seed: parseSeed(GRANTING_OPS, "seed.yaml", ROLES) });
    const { roles } = await api.ok("GET", `${IAM}/roles`);
    const found = roles.map(({ name, capabilities }: Body) => [name, capabilities.map(capabilityName)]);
    expect(Object.fromEntries(found)).toEqual(ROLES);
    const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`);
    expect(roleBindings.map(({ role }: Body) => role.name)).toContain("ops");
  });

  test("a role that goes is deleted, unless something grants it: then the server does not start", async () => {
    const options = { store: folder.path("roles.db"), keys: sharedKeys(), dev: true };
    const first = await createServer({ ...options, roles: ROLES });
    await first.close();
    const second = await createServer({ ...options, roles: { owner: ROLES.owner, viewer: ROLES.viewer } });
    await second.close();
    const third = await createServer({ ...options, roles: ROLES, seed: parseSeed(GRANTING_OPS, "s", ROLES) });
    await third.close();
    await expect(createServer(options)).rejects.toThrow(
      "the database grants built-in roles that the server would not have: ops. Start it with --roles FILE, a file that has them",
    );
  });

  test("every problem of a file is reported, with its line", () => {
    expect(
      problemsOf("owner: [groups.list]\nA: [x]\nb: []\nc: [groups.lst, repo.list, repo.list]\n").split("\n"),
    ).toEqual([
      expect.stringContaining("has no role viewer, which the server grants by itself: add it"),
      expect.stringContaining("roles.yaml:2"),
      expect.stringContaining("roles.yaml:3"),
      expect.stringContaining("there is no capability groups.lst; did you mean groups.list?"),
      expect.stringContaining("repo.list is here twice"),
    ]);
    expect(problemsOf("[]")).toContain("must be a map such as { viewer: [groups.list, repo.list] }");
  });

  test("an option with mistakes is refused", async () => {
    await expect(createServer({ roles: { owner: ["x"], viewer: ["groups.list"] } })).rejects.toThrow(
      "--roles: owner 0 there is no capability x",
    );
  });
});
