// Seed files: a valid one is applied once. An invalid one is refused with file, line and column, all problems at once.

import { afterAll, describe, expect, test } from "vitest";
import { createServer, parseSeed, SeedError } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, sharedKeys } from "../../harness/api-server.ts";
import { temporaryFolder } from "../../support/command.ts";
import type { Body } from "../../support/http.ts";
import { refusal } from "./refusal.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const GOOD = `
organization:
  name: acme.example
  description: The organization
  kind: ORG_KIND_CUSTOMER
  verified: true
groups:
  # Children may come before their parents.
  - { name: ci, parent: eng/platform }
  - { name: platform, parent: eng, description: Runs things }
  - { name: eng }
roles:
  - { name: deployer, group: eng, capabilities: [groups.list, CAP_REPO_LIST] }
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
repos:
  - { name: nginx, group: eng, catalogTier: CATALOG_TIER_BASE, aliases: ["nginx:latest"] }
`;

const KEYS = () => JSON.stringify(sharedKeys().signer.jwks());

describe("a good seed", () => {
  test("creates every record in its place, as the API shows it", async () => {
    const api = await serve({ seed: parseSeed(GOOD, "f.yaml") });
    const query = { page_size: 200 };
    const { groups } = await api.ok("GET", `${IAM}/groups`, { query });
    const uidOf = (name: string) => groups.find((group: Body) => group.name === name).uid as string;
    expect(groups.find((group: Body) => group.uid === api.organization)).toMatchObject({
      name: "acme.example",
      description: "The organization",
      kind: "ORG_KIND_CUSTOMER",
      verified: true,
    });
    expect(uidOf("ci").startsWith(`${uidOf("platform")}/`)).toBe(true);
    expect(uidOf("platform").startsWith(`${uidOf("eng")}/`)).toBe(true);

    const { identities } = await api.ok("GET", `${IAM}/identities`, { query });
    const identity = (name: string) => identities.find((own: Body) => own.name === name) as Body;
    expect(identities).toHaveLength(4); // and the development owner
    expect(identity("bot")).toMatchObject({
      description: "Deploys",
      claimMatch: { issuer: "https://token.actions.githubusercontent.com", subjectPattern: "repo:acme/.*" },
    });
    expect(identity("bot").uid.startsWith(`${uidOf("platform")}/`)).toBe(true);
    expect(identity("local").claimMatch).toEqual({ issuer: api.issuer, subject: "me" });

    const { roles } = await api.ok("GET", `${IAM}/roles`, { query: { "uidp.childrenOf": uidOf("eng") } });
    expect(roles).toMatchObject([{ name: "deployer", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"] }]);
    const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, { query });
    const triples = roleBindings.map((own: Body) => [own.identity.name, own.role.name, own.group.name].join(" "));
    expect(triples.toSorted()).toEqual(
      ["bot deployer platform", "local viewer acme.example", "local viewer eng", "owner owner acme.example"].toSorted(),
    );
    const { repos } = await api.ok("GET", `${REGISTRY}/repos`);
    expect(repos).toMatchObject([{ name: "nginx", catalogTier: "CATALOG_TIER_BASE", aliases: ["nginx:latest"] }]);
    // The grants of the file work: the identity is assumed and acts.
    const token = await api.token(identity("local").uid, { subject: "me" });
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
});

describe("a bad seed is reported with file, line and column", () => {
  test("when it is not YAML, with every error", () => {
    const lines = refusal("organization: { name: a\ngroups:\n  - name: [x\n");
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/^f\.yaml:\d+:\d+: \S/);
  });

  test("when a key appears twice", () => {
    expect(refusal("organization:\n  name: a\n  name: b\n")).toEqual(["f.yaml:3:3: Map keys must be unique"]);
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
    const text = `organization:
  name: Acme
  kind: ORG_KIND_HUGE
groups:
  - name: eng
    description: "two\\nlines"
  - name: ok
    parent: nowhere
roles:
  - name: r
    group: gone
    capabilities: [groups.list, make.coffee]
  - name: empty
    capabilities: []
  - name: outside
    capabilities: [rex.class.use]
identities:
  - name: i
    claimMatch: { issuer: "ftp://x", subject: s }
  - name: nothing
  - name: open
    claimMatch: { issuerPattern: "(", subject: s }
  - name: keys
    staticKeys: { issuer: "https://i.example", subject: s, issuerKeys: "{}" }
bindings:
  - identity: nobody
    role: viewer
  - identity: i
    role: wizard
    group: lost
repos:
  - group: eng
    name: ""
`;
    expect(refusal(text)).toEqual([
      'f.yaml:2:9: organization.name: name must match "^[a-z0-9 ._-]{1,}$"',
      'f.yaml:3:9: organization.kind: must be one of ORG_KIND_STARTER, ORG_KIND_CUSTOMER, ORG_KIND_DEV, ORG_KIND_INFRA, ORG_KIND_AWS_MARKETPLACE; got "ORG_KIND_HUGE"',
      String.raw`f.yaml:6:18: groups.0.description: description must match "^[\S ]{0,512}$"`,
      'f.yaml:8:13: groups.1.parent: there is no group "nowhere" in this file',
      'f.yaml:11:12: roles.0.group: there is no group "gone" in this file',
      'f.yaml:12:33: roles.0.capabilities.1: must be a value of Capability; got "make.coffee"',
      "f.yaml:14:19: roles.1.capabilities: must have at least one capability",
      "f.yaml:16:19: roles.2.capabilities: must contain internal, since it contains rex.class.use",
      "f.yaml:19:27: identities.0.claimMatch.issuer: must be an https URL in its normal form, without user, query or fragment, at most 255 characters",
      "f.yaml:20:5: identities.1.claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set",
      expect.stringMatching(/^f\.yaml:22:34: identities\.2\.claimMatch\.issuerPattern: must be an RE2 pattern: /),
      'f.yaml:24:72: identities.3.staticKeys.issuerKeys: must be a JSON Web Key Set of public keys: not an object with a list of "keys"',
      'f.yaml:26:15: bindings.0.identity: there is no identity "nobody" in this file',
      'f.yaml:29:11: bindings.1.role: there is no role "wizard" in this file, nor is it built in',
      'f.yaml:30:12: bindings.1.group: there is no group "lost" in this file',
      "f.yaml:33:11: repos.0.name: is required",
    ]);
  });

  test("at the start, for problems that only the server knows: an unknown role uid, expired keys, a loopback issuer", async () => {
    const uid = "f".repeat(40);
    const text = `organization: { name: a }
identities:
  - { name: i, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }
  - { name: local, claimMatch: { issuer: "http://localhost:9", subject: s } }
  - { name: old, staticKeys: { issuer: "https://i.example", subject: s, issuerKeys: '${KEYS()}', expirationTime: "2020-01-01T00:00:00Z" } }
bindings: [{ identity: i, role: ${uid} }]
groups: [{ name: eng }]
`;
    const lines = await createServer({ seed: parseSeed(text, "f.yaml"), keys: sharedKeys() }).catch((error) => {
      expect(error).toBeInstanceOf(SeedError);
      return error.message.split("\n");
    });
    expect(lines).toEqual([
      "f.yaml:4:42: identities.1.claimMatch.issuer: must not be on loopback; such an issuer is served with --dev only",
      expect.stringMatching(
        /^f\.yaml:5:\d+: identities\.2\.staticKeys\.expirationTime: must be in the future, at most 365 days after creation$/,
      ),
      `f.yaml:6:33: bindings.0.role: role ${uid} does not exist at "" or above`,
    ]);
  });

  test("and leaves nothing in the database", async () => {
    const store = folder.path("refused.db");
    const text = `organization: { name: a }\ngroups: [{ name: eng }]\nidentities: [{ name: i, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }]\nbindings: [{ identity: i, role: ${"f".repeat(40)} }]\n`;
    await expect(createServer({ store, seed: parseSeed(text, "f.yaml"), keys: sharedKeys() })).rejects.toThrow(
      SeedError,
    );
    const api = await serve({ store });
    expect((await api.ok("GET", `${IAM}/groups`)).groups).toMatchObject([{ name: "dev" }]);
  });

  test("when it refers to a refused record: the reference is checked too", () => {
    const text = `organization: { name: a }
groups: [{ name: ENG }, { name: ops }]
roles: [{ name: BAD, group: ENG, capabilities: [groups.list] }]
identities: [{ name: NO, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }]
identityProviders: [{ name: P, group: ops, defaultRole: ENG/BAD, oidc: { issuer: "https://i.example", clientId: c, pkceEnabled: true } }]
bindings: [{ identity: NO, role: ENG/BAD, group: ops }]
`;
    const name = 'name must match "^[a-z0-9 ._-]{1,}$"';
    expect(refusal(text)).toEqual([
      `f.yaml:2:18: groups.0.name: ${name}`,
      `f.yaml:3:17: roles.0.name: ${name}`,
      `f.yaml:4:22: identities.0.name: ${name}`,
      `f.yaml:5:29: identityProviders.0.name: ${name}`,
      'f.yaml:5:57: identityProviders.0.defaultRole: role "ENG/BAD" does not exist at "ops" or above',
      'f.yaml:6:34: bindings.0.role: role "ENG/BAD" does not exist at "ops" or above',
    ]);
  });

  test.each([
    ["an empty file", "", "1:1"],
    ["empty lines", "\n\n", "1:1"],
    ["a comment alone", "# organization: { name: a }\n", "1:1"],
    ["an empty document", "---\n", "1:4"],
    ["null", "null\n", "1:1"],
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

  test("in the order of the file", () => {
    const text = `repos:
  - { name: nginx, group: gone, colour: blue }
  - { name: "", group: gone }
groups: [{ name: eng, parent: nowhere }]
colours: []
organization: { name: Acme }
`;
    const places = refusal(text).map((line) => line.split(": ", 2));
    expect(places).toEqual([
      ["f.yaml:2:41", "repos.0.colour"],
      ["f.yaml:3:13", "repos.1.name"],
      ["f.yaml:3:24", "repos.1.group"],
      ["f.yaml:4:31", "groups.0.parent"],
      ["f.yaml:5:10", "colours"],
      ["f.yaml:6:23", "organization.name"],
    ]);
  });

  test("when its aliases multiply without end", () => {
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (const [key, before] of [..."bcdefghij"].map((key, i) => [key, "abcdefghij"[i]]))
      bomb.push(`${key}: &${key} [${Array(9).fill(`*${before}`).join(", ")}]`);
    expect(refusal(bomb.join("\n"))[0]).toMatch(/^f\.yaml:1:1: .*alias/i);
  });
});
