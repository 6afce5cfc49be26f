// Seed files that are refused, with file, line and column: all problems at once, in the API's words.
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { createServer, parseSeed, SeedError } from "../../../server/index.ts";
import { ownKeys, sharedKeys } from "../../harness/api-server.ts";
import { testFolder } from "../../support/test-folder.ts";
import { errorOf, rejectionOf } from "../../support/thrown.ts";

const folder = testFolder();

/** The lines of the message that refuses a seed. */
const refusal = (text: string): string[] => {
  const error = errorOf(() => parseSeed(text, "f.yaml"));
  expect(error).toBeInstanceOf(SeedError);
  return error.message.split("\n");
};

describe("a bad seed is reported with file, line and column", () => {
  test("when it is not YAML, with every error", () => {
    const lines = refusal("organization: { name: a\ngroups:\n  - name: [x\n");
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/^f\.yaml:\d+:\d+: \S/);
  });

  test.each<[string, string, RegExp]>([
    ["a list", "- a\n", /^f\.yaml:1:1: must be a map$/],
    ["no organization", "groups: []\n", /^f\.yaml:1:1: organization: /],
  ])("when it has %s", (_, text, expected) => {
    const lines = refusal(text);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(expected);
  });

  test("when records break the API's rules or refer to missing ones: all problems at once, in the API's words", () => {
    const text = `organization: { name: Acme, kind: ORG_KIND_HUGE }
groups: [{ name: ok, parent: nowhere }]
roles:
  - { name: r, group: gone, capabilities: [groups.list, make.coffee] }
  - { name: outside, capabilities: [rex.class.use] }
identities:
  - { name: i, claimMatch: { issuer: "ftp://x", subject: s } }
  - { name: nothing }
  - { name: open, claimMatch: { issuerPattern: "(", subject: s } }
  - { name: keys, staticKeys: { issuer: "https://i.example", subject: s, issuerKeys: "{}" } }
bindings: [{ identity: nobody, role: viewer }, { identity: i, role: wizard, group: lost }]
identityProviders: [{ name: okta, group: gone, defaultRole: wizard, oidc: { issuer: "http://x", clientId: c } }]
accountAssociations: [{ name: one, amazon: { account: "1" } }, { name: two, github: { appInstallations: { x: {} } } }]
repos: [{ name: "", readme: "<script>", tags: [{ name: -x, digest: y }] }]
advisories:
  - { advisoryId: CGA-aaaa-bbbb-cccc, author: a, artifactName: n, artifactType: t, artifactArchitecture: x, componentName: c, componentLocation: l, events: [{ author: a }, { author: a, reviewState: 1, detection: {} }] }
  - { advisoryId: CGA-aaaa-bbbb-dddd, events: [{ fixed: {}, patched: {} }], createTime: yesterday }
`;
    expect(refusal(text)).toEqual([
      'f.yaml:1:23: organization.name: name must match "^[a-z0-9 ._-]{1,}$"',
      'f.yaml:1:35: organization.kind: must be one of ORG_KIND_STARTER, ORG_KIND_CUSTOMER, ORG_KIND_DEV, ORG_KIND_INFRA, ORG_KIND_AWS_MARKETPLACE; got "ORG_KIND_HUGE"',
      'f.yaml:2:30: groups.0.parent: there is no group "nowhere" in this file',
      'f.yaml:4:23: roles.0.group: there is no group "gone" in this file',
      'f.yaml:4:57: roles.0.capabilities.1: must be a value of Capability; got "make.coffee"',
      "f.yaml:5:36: roles.1.capabilities: must contain internal, since it contains rex.class.use",
      "f.yaml:7:38: identities.0.claimMatch.issuer: must be an https URL in its normal form, without user, query or fragment, at most 255 characters",
      "f.yaml:8:5: identities.1.claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set",
      expect.stringMatching(/^f\.yaml:9:48: identities\.2\.claimMatch\.issuerPattern: must be an RE2 pattern: /),
      'f.yaml:10:86: identities.3.staticKeys.issuerKeys: must be a JSON Web Key Set of public keys: not an object with a list of "keys"',
      'f.yaml:11:24: bindings.0.identity: there is no identity "nobody" in this file',
      'f.yaml:11:69: bindings.1.role: there is no role "wizard" in this file, nor is it built in',
      'f.yaml:11:84: bindings.1.group: there is no group "lost" in this file',
      'f.yaml:12:42: identityProviders.0.group: there is no group "gone" in this file',
      'f.yaml:12:61: identityProviders.0.defaultRole: there is no role "wizard" in this file, nor is it built in',
      "f.yaml:12:75: identityProviders.0.oidc.clientSecret: is required unless pkceEnabled is set",
      "f.yaml:12:85: identityProviders.0.oidc.issuer: must be an https URL in its normal form, without user, query or fragment, at most 255 characters",
      'f.yaml:13:55: accountAssociations.0.amazon.account: AWS account ID must match "^[0-9]{12}$"',
      "f.yaml:13:64: accountAssociations.1.group: another record of this file has the same",
      "f.yaml:13:110: accountAssociations.1.github.appInstallations.x: must be an integer",
      "f.yaml:14:17: repos.0.name: is required",
      "f.yaml:14:29: repos.0.readme: readme contained unsafe html content: <script>",
      'f.yaml:14:56: repos.0.tags.0.name: tag must match "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"',
      'f.yaml:14:68: repos.0.tags.0.digest: digest must match "^sha256:[0-9a-f]{64}$"',
      "f.yaml:16:5: advisories.0.componentType: is required",
      "f.yaml:16:158: advisories.0.events.0.reviewState: is required",
      "f.yaml:16:158: advisories.0.events.0.detection: one of detection, fixed, falsePositiveDetermination, analysisNotPlanned, fixNotPlanned, pendingUpstreamFix, truePositiveDetermination, patched must be set",
      "f.yaml:16:213: advisories.0.events.1.detection.nvdapi: one of nvdapi, manual, scanv1 must be set",
      "f.yaml:17:70: advisories.1.events.0.patched: only one of fixed, patched may be set",
      "f.yaml:17:89: advisories.1.createTime: must be an RFC 3339 time",
    ]);
  });

  test("at the start, for problems that only the server knows: an unknown role uid, expired keys, a loopback issuer", async () => {
    const uid = "f".repeat(40);
    const text = `organization: { name: a }
identities:
  - { name: i, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }
  - { name: local, claimMatch: { issuer: "http://localhost:9", subject: s } }
  - { name: old, staticKeys: { issuer: "https://i.example", subject: s, issuerKeys: '${ownKeys()}', expirationTime: "2020-01-01T00:00:00Z" } }
bindings: [{ identity: i, role: ${uid} }]
groups: [{ name: eng }]
`;
    const store = folder.path("refused.db");
    const error = await rejectionOf(createServer({ store, seed: parseSeed(text, "f.yaml"), keys: sharedKeys() }));
    expect(error).toBeInstanceOf(SeedError);
    expect(error.message.split("\n")).toEqual([
      "f.yaml:4:42: identities.1.claimMatch.issuer: must not be on loopback; such an issuer is served with --dev only",
      expect.stringMatching(
        /^f\.yaml:5:\d+: identities\.2\.staticKeys\.expirationTime: must be in the future, at most 365 days after creation$/,
      ),
      `f.yaml:6:33: bindings.0.role: role ${uid} does not exist at "" or above`,
    ]);
    // And nothing of it is in the database. No caller would see the rest of another organization.
    const database = new DatabaseSync(store);
    onTestFinished(() => database.close());
    expect(database.prepare("SELECT uid FROM groups").all()).toEqual([]);
  });

  test.each([
    ["an empty file", "", "1:1"],
    ["a comment alone", "# organization: { name: a }\n", "1:1"],
    ["an empty document", "---\n", "1:4"],
  ])("when it is empty, with what it needs: %s", (_, text, place) => {
    expect(refusal(text)).toEqual([
      `f.yaml:${place}: the file is empty; a seed holds at least an organization: { name: acme.example }`,
    ]);
  });

  test("when it holds a second document", () => {
    expect(refusal("organization: { name: a }\n---\norganization: { name: b }\n")).toEqual([
      "f.yaml:2:1: a second document begins here; the file may hold one",
    ]);
  });

  test("when its aliases multiply without end", () => {
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (const [key, before] of [..."bcdefghij"].map((key, i) => [key, "abcdefghij"[i]]))
      bomb.push(`${key}: &${key} [${Array(9).fill(`*${before}`).join(", ")}]`);
    expect(refusal(bomb.join("\n"))[0]).toMatch(/^f\.yaml:1:1: .*alias/i);
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

  test("when some records have the wrong shape: the others are checked too, references to those are not missing, and all is in the order of the file", () => {
    const text = `repos:
  - { name: a, group: eng, bundles: [gold] }
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
colours: []
organization: { name: acme, colour: red }
`;
    expect(refusal(text)).toEqual([
      'f.yaml:2:38: repos.0.bundles.0: only the following keywords are valid "^application$|^base$|^byol$|^ai$|^ai-gpu$|^featured$|^fips$|^commercial$|^emeritoss$"',
      "f.yaml:4:26: groups.0.colour: there is no such field here",
      'f.yaml:5:13: groups.1.name: name must match "^[a-z0-9 ._-]{1,}$"',
      "f.yaml:8:13: identities.0.name: must be a string",
      'f.yaml:9:13: identities.1.name: name must match "^[a-z0-9 ._-]{1,}$"',
      "f.yaml:10:8: roles: must be a list",
      "f.yaml:13:41: bindings.1.grupe: there is no such field here",
      "f.yaml:14:10: colours: there is no such field here",
      "f.yaml:15:37: organization.colour: there is no such field here",
    ]);
  });

  test.each<[string, string, string]>([
    ["accountAssociations", "{ name: a, uid: x }", "21: accountAssociations.0.uid: there is no such field here"],
    // No file knows its uid.
    ["repos", "{ name: a, sync_config: { source: x } }", "29: repos.0.sync_config: there is no such field here"],
    [
      "advisories",
      "{ advisoryId: x }",
      "19: advisories.0.advisoryId: must be an advisory id such as CGA-xvgw-cvr7-9g2q",
    ],
  ])("when one of its %s is %s", (section, record, expected) => {
    expect(refusal(`organization: { name: acme }\n${section}:\n  - ${record}\n`)).toEqual([`f.yaml:3:${expected}`]);
  });
});

const [ROOT, other, third, lost, role] = [..."abcde"].map((digit) => digit.repeat(40));
const segment = (digit: string) => digit.repeat(16);

// Records by uid, as `irm serve --copy-to` writes them: edited by hand, they are judged like any other.
test("problems of a copy are reported all at once, with their places", () => {
  const text = `copy: { of: "https://irm.example", time: "2026-01-28T12:54:21Z", notVisible: [{ kind: repo }] }
records:
  groups:
    - { uid: ${ROOT}, name: acme, createTime: yesterday }
    - { uid: ${other}, name: other, colour: red }
    - { uid: nonsense, name: x }
    - { uid: ${third}, name: third }
    - { uid: ${third}, name: third }
    - { uid: ${lost}/${segment("1")}, name: lost }
    - { name: nobody }
  roleBindings:
    - { uid: ${third}/${segment("1")}, identityUid: ${third}/${segment("2")}, roleUid: ${role} }
    - { uid: ${third}, identityUid: x, roleUid: y }
  repos:
    - { uid: ${third}/${segment("3")}, name: [nginx] }
    - { uid: ${third}/${segment("4")} }
  tags:
    - { uid: ${third}/${segment("4")}/${segment("5")}, name: latest, digest: any }
`;
  expect(refusal(text)).toEqual([
    "f.yaml:4:80: records.groups.0.createTime: must be an RFC 3339 time",
    "f.yaml:5:77: records.groups.1.colour: there is no such field",
    "f.yaml:6:14: records.groups.2.uid: must be a uid: 40 hexadecimal digits, then / and 16 more for each level below",
    "f.yaml:8:14: records.groups.4.uid: another record of this file has the same",
    `f.yaml:9:7: records.groups.5: Not found: Group ${lost} does not exist`,
    "f.yaml:10:7: records.groups.6.uid: is required",
    `f.yaml:12:86: records.roleBindings.0.identityUid: identity ${third}/${segment("2")} does not exist`,
    `f.yaml:12:154: records.roleBindings.0.roleUid: role ${role} does not exist at ${third} or above`,
    "f.yaml:13:14: records.roleBindings.1.uid: must be below the uid of a group",
    "f.yaml:15:79: records.repos.0.name: must be a string",
    "f.yaml:16:7: records.repos.1.name: is required",
    `f.yaml:18:7: records.tags.0: Not found: Repo ${third}/${segment("4")} does not exist`,
  ]);
});

test("other sections and a wrong shape of a copy are refused", () => {
  expect(
    refusal(`organization: { name: a }\nrecords: { groups: {}, colours: [] }\nnamed: { roles: [{ name: 7 }] }\n`),
  ).toEqual([
    "f.yaml:1:15: organization: there is no such field here",
    "f.yaml:2:20: records.groups: must be a list",
    "f.yaml:2:33: records.colours: there is no such field here",
    "f.yaml:3:18: named.roles.0.uid: is required",
    "f.yaml:3:26: named.roles.0.name: must be a string",
  ]);
});
