// Further records of a seed: identity providers, account associations, repos with readme and tags, advisories. A valid file is
// applied once. An invalid one is reported with file, line and column, in the API's words.

import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, type TestServer } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import { temporaryFolder } from "../../support/command.ts";
import type { Body } from "../../support/http.ts";
import { refusal } from "./refusal.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const SECRET = "seeded-client-secret";
const GOOD = `
organization: { name: acme }
groups: [{ name: eng }]
roles: [{ name: guest, group: eng, capabilities: [groups.list] }]
identities: [{ name: bot, group: eng, servicePrincipal: SERVICE_PRINCIPAL_CATALOG_SYNCER }]
bindings: [{ identity: eng/bot, role: eng/guest, group: eng }]
identityProviders:
  - { name: okta, description: People, defaultRole: viewer, oidc: { issuer: "https://idp.example", clientId: c, clientSecret: ${SECRET} } }
  - { name: entra, group: eng, defaultRole: eng/guest, oidc: { issuer: "https://idp.example", client_id: c, pkceEnabled: true } }
externalGroupRoleMappings:
  - { identityProvider: okta, externalGroupId: Platform-SRE, role: owner }
  - { identityProvider: eng/entra, externalGroupId: Platform-SRE, role: viewer }
accountAssociations:
  - { name: clouds, amazon: { account: "123456789012" } }
  - { name: clouds, group: eng, github: { appInstallations: { 7: { installations: [{ installationId: 12 }] } } } }
repos:
  - name: nginx
    group: eng
    description: A server
    catalogTier: CATALOG_TIER_BASE
    bundles: [base]
    activeTags: [latest]
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
  ];
  const paths = [...kinds.map((kind) => `${IAM}/${kind}`), `${REGISTRY}/repos`, `${REGISTRY}/tags`];
  for (const path of [...paths, "/vulnerabilities/v2beta1/advisories"]) {
    const { totalCount, skipped, ...list } = await api.ok("GET", path, { query: { page_size: 200 } });
    Object.assign(all, list);
  }
  // The development owner is seen again with each start.
  all.identities = (await api.ok("GET", `${IAM}/identities`)).totalCount;
  for (const { uid, name } of all.repos)
    all[`readme of ${name}`] = (await api.ok("GET", `${REGISTRY}/repos/${uid}/readme`)).content;
  return all;
};

describe("a good seed", () => {
  test("creates every record in its place, as the API shows it", async () => {
    const api = await serve({ seed: parseSeed(GOOD, "f.yaml") });
    const { groups } = await api.ok("GET", `${IAM}/groups`, { query: { name: "eng" } });
    const eng = groups[0].uid as string;
    const { roles } = await api.ok("GET", `${IAM}/roles`, { query: { name: "guest" } });
    const all = await readAll(api);
    const by = (list: string, key: string, value: string) => all[list].find((row: Body) => row[key] === value) as Body;

    expect(by("identityProviders", "name", "okta")).toMatchObject({
      description: "People",
      defaultRole: await api.role("viewer"),
      oidc: { issuer: "https://idp.example", clientId: "c" },
    });
    expect(by("identityProviders", "name", "entra")).toMatchObject({
      defaultRole: roles[0].uid,
      oidc: { clientId: "c", pkceEnabled: true },
    });
    expect(by("identityProviders", "name", "entra").uid.startsWith(`${eng}/`)).toBe(true);
    expect(all.externalGroupRoleMappings).toHaveLength(2);
    expect(by("externalGroupRoleMappings", "roleUid", await api.role("owner"))).toMatchObject({
      identityProviderUid: by("identityProviders", "name", "okta").uid,
      externalGroupId: "Platform-SRE",
      scope: api.organization,
    });
    expect(by("accountAssociations", "uid", api.organization).amazon).toEqual({ account: "123456789012" });
    expect(by("accountAssociations", "uid", eng).github).toEqual({
      appInstallations: { 7: { installations: [{ installationId: "12" }] } },
    });
    const nginx = by("repos", "name", "nginx");
    expect(nginx).toMatchObject({
      description: "A server",
      catalogTier: "CATALOG_TIER_BASE",
      bundles: ["base"],
      activeTags: ["latest"],
      customOverlay: { contents: { packages: ["curl"] } },
    });
    expect(nginx).not.toHaveProperty("readme");
    expect(all["readme of nginx"]).toBe("# nginx\n\nA server.\n");
    expect(all["readme of empty"]).toBeUndefined();
    expect(all.tags).toHaveLength(2);
    expect(by("tags", "name", "1.27")).toMatchObject({ deprecated: true, bundles: ["fips"] });
    expect(by("tags", "name", "1.27").uid.startsWith(`${nginx.uid}/`)).toBe(true);
    expect(all.advisories).toMatchObject([
      { advisoryId: "CGA-aaaa-bbbb-cccc", events: [{ reviewState: "REVIEW_STATE_APPROVED" }] },
    ]);
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

describe("a bad seed is reported with file, line and column", () => {
  test("with all problems at once, in the API's words", () => {
    const text = `organization: { name: acme }
identityProviders:
  - name: okta
    group: gone
    defaultRole: wizard
    oidc: { issuer: "http://x", clientId: c }
  - name: none
    defaultRole: viewer
accountAssociations:
  - { name: one, amazon: { account: "1" } }
  - name: two
  - name: three
    github: { appInstallations: { x: {} } }
repos:
  - name: nginx
    bundles: [base, gold]
    readme: "<script>"
    tags:
      - { name: -x, digest: y }
advisories:
  - advisoryId: CGA-aaaa-bbbb-cccc
    author: a
    events:
      - { author: a, detection: { manual: {} } }
      - { author: a, reviewState: REVIEW_STATE_PENDING }
      - { author: a, reviewState: REVIEW_STATE_PENDING, detection: {} }
  - advisoryId: CGA-aaaa-bbbb-dddd
    events: [{ fixed: {}, patched: {} }]
    createTime: yesterday
`;
    expect(refusal(text)).toEqual([
      'f.yaml:4:12: identityProviders.0.group: there is no group "gone" in this file',
      'f.yaml:5:18: identityProviders.0.defaultRole: there is no role "wizard" in this file, nor is it built in',
      "f.yaml:6:11: identityProviders.0.oidc.clientSecret: is required unless pkceEnabled is set",
      "f.yaml:6:21: identityProviders.0.oidc.issuer: must be an https URL in its normal form, without user, query or fragment, at most 255 characters",
      "f.yaml:7:5: identityProviders.1.oidc: one of oidc must be set",
      'f.yaml:10:37: accountAssociations.0.amazon.account: AWS account ID must match "^[0-9]{12}$"',
      "f.yaml:11:5: accountAssociations.1.group: another record of this file has the same",
      "f.yaml:12:5: accountAssociations.2.group: another record of this file has the same",
      "f.yaml:13:38: accountAssociations.2.github.appInstallations.x: must be an integer",
      'f.yaml:16:21: repos.0.bundles.1: only the following keywords are valid "^application$|^base$|^byol$|^ai$|^ai-gpu$|^featured$|^fips$|^commercial$|^emeritoss$"',
      "f.yaml:17:13: repos.0.readme: readme contained unsafe html content: <script>",
      'f.yaml:19:17: repos.0.tags.0.name: tag must match "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"',
      'f.yaml:19:29: repos.0.tags.0.digest: digest must match "^sha256:[0-9a-f]{64}$"',
      ...[
        "artifactName",
        "artifactType",
        "artifactArchitecture",
        "componentName",
        "componentLocation",
        "componentType",
      ].map((field) => `f.yaml:21:5: advisories.0.${field}: is required`),
      "f.yaml:24:9: advisories.0.events.0.reviewState: is required",
      "f.yaml:25:9: advisories.0.events.1.detection: one of detection, fixed, falsePositiveDetermination, analysisNotPlanned, fixNotPlanned, pendingUpstreamFix, truePositiveDetermination, patched must be set",
      "f.yaml:26:68: advisories.0.events.2.detection.nvdapi: one of nvdapi, manual, scanv1 must be set",
      "f.yaml:28:36: advisories.1.events.0.patched: only one of fixed, patched may be set",
      "f.yaml:29:17: advisories.1.createTime: must be an RFC 3339 time",
    ]);
  });

  test("when the server could not tell two records from each other, and a role is out of reach", () => {
    const text = `organization: { name: acme }
groups: [{ name: eng }, { name: ops, parent: eng }, { name: eng }, { name: sales }]
roles:
  - { name: r, group: eng, capabilities: [groups.list] }
  - { name: r, group: sales, capabilities: [groups.list] }
  - { name: r, group: eng, capabilities: [repo.list] }
identities:
  - { name: i, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }
  - { name: i, servicePrincipal: SERVICE_PRINCIPAL_INGESTER }
bindings:
  - { identity: i, role: eng/r, group: eng/ops }
  - { identity: i, role: eng/r, group: sales }
identityProviders:
  - { name: p, group: eng, defaultRole: sales/r, oidc: { issuer: "https://idp.example", clientId: c, pkceEnabled: true } }
  - { name: p, group: eng, defaultRole: eng/r, oidc: { issuer: "https://idp.example", clientId: c, pkceEnabled: true } }
externalGroupRoleMappings:
  - { identityProvider: eng/p, externalGroupId: sre, role: viewer }
  - { identityProvider: eng/p, externalGroupId: sre, role: viewer }
  - { identityProvider: eng/p, externalGroupId: sre, role: eng/r }
  - { identityProvider: gone, externalGroupId: "", role: wizard }
repos:
  - name: nginx
    tags:
      - { name: latest, digest: "sha256:${"a".repeat(64)}" }
      - { name: latest, digest: "sha256:${"b".repeat(64)}" }
  - name: nginx
    readme: ${"x".repeat(262_145)}
`;
    const same = "another record of this file has the same";
    expect(refusal(text)).toEqual([
      `f.yaml:2:61: groups.2.name: ${same}`,
      `f.yaml:6:13: roles.2.name: ${same}`,
      `f.yaml:9:13: identities.1.name: ${same}`,
      'f.yaml:12:26: bindings.1.role: role "eng/r" does not exist at "sales" or above',
      'f.yaml:14:41: identityProviders.0.defaultRole: role "sales/r" does not exist at "eng" or above',
      `f.yaml:15:13: identityProviders.1.name: ${same}`,
      `f.yaml:18:49: externalGroupRoleMappings.1.externalGroupId: ${same}`,
      'f.yaml:19:60: externalGroupRoleMappings.2.role: role "eng/r" does not exist at "" or above',
      'f.yaml:20:25: externalGroupRoleMappings.3.identityProvider: there is no identity provider "gone" in this file',
      "f.yaml:20:48: externalGroupRoleMappings.3.externalGroupId: is required",
      'f.yaml:20:58: externalGroupRoleMappings.3.role: there is no role "wizard" in this file, nor is it built in',
      `f.yaml:25:17: repos.0.tags.1.name: ${same}`,
      `f.yaml:26:11: repos.1.name: ${same}`,
      "f.yaml:27:13: repos.1.readme: must be at most 262144 characters",
    ]);
  });

  test("when some records have the wrong shape: the others are checked too, and references to those are not missing", () => {
    const text = `organization: { name: acme, colour: red }
groups:
  - { name: eng, colour: blue }
  - { name: OPS }
  - { name: sales, parent: lost }
identities:
  - { name: 7 }
  - { name: NO, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }
roles: none
bindings:
  - { identity: "7", role: r, group: eng }
  - { identity: i, role: wizard, grupe: eng }
repos:
  - { name: a, group: eng, bundles: [gold] }
colours: []
`;
    expect(refusal(text)).toEqual([
      "f.yaml:1:37: organization.colour: there is no such field here",
      "f.yaml:3:26: groups.0.colour: there is no such field here",
      'f.yaml:4:13: groups.1.name: name must match "^[a-z0-9 ._-]{1,}$"',
      "f.yaml:7:13: identities.0.name: must be a string",
      'f.yaml:8:13: identities.1.name: name must match "^[a-z0-9 ._-]{1,}$"',
      "f.yaml:9:8: roles: must be a list",
      "f.yaml:12:41: bindings.1.grupe: there is no such field here",
      'f.yaml:14:38: repos.0.bundles.0: only the following keywords are valid "^application$|^base$|^byol$|^ai$|^ai-gpu$|^featured$|^fips$|^commercial$|^emeritoss$"',
      "f.yaml:15:10: colours: there is no such field here",
    ]);
  });

  test.each<[string, string, string]>([
    [
      "a field that only the server sets",
      "accountAssociations:\n  - { name: a, uid: x }",
      "f.yaml:3:21: accountAssociations.0.uid: there is no such field here",
    ],
    [
      "a source of a repo, whose uid no file knows",
      "repos:\n  - { name: a, sync_config: { source: x } }",
      "f.yaml:3:29: repos.0.sync_config: there is no such field here",
    ],
    [
      "a malformed id",
      "advisories:\n  - { advisoryId: CVE-2024-1 }",
      "f.yaml:3:19: advisories.0.advisoryId: must be an advisory id such as CGA-xvgw-cvr7-9g2q",
    ],
  ])("when it has %s", (_, section, expected) => {
    expect(refusal(`organization: { name: acme }\n${section}\n`)).toEqual([expected]);
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
