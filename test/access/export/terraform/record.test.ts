// Which attributes of a state differ from the record, as the provider reads and does not read them back.
import { expect, test } from "vitest";
import { changedFields, type ResourceType, resourceTypeOf } from "../../../../access/export/terraform/record.ts";
import type { Json } from "../../../../schema/index.ts";

const ROOT = "7".repeat(40);
const BELOW = `${ROOT}/${"a".repeat(16)}`;

const changes = (type: string, attributes: Json, record: Json): string[] =>
  changedFields(resourceTypeOf(`chainguard_${type}`) as ResourceType, attributes, { uid: BELOW, ...record });

const keys = {
  issuer: "https://k.example",
  subject: "k",
  issuer_keys: '{ "keys": [] }',
  expiration: "2027-01-01T00:00:00+02:00",
};
const live = {
  issuer: "https://k.example",
  subject: "k",
  issuerKeys: '{"keys":[]}',
  expirationTime: "2026-12-31T22:00:00.789Z",
};
const installed = (...ids: string[]) => ({
  github: {
    appInstallations: {
      12: { installations: ids.map((installationId) => ({ installationId, name: "acme" })) },
      7: { installations: [{ installationId: "1" }] },
    },
  },
});

test.each<[string, string, Json, Json, string[]]>([
  [
    "nothing set is empty",
    "group",
    { name: "a", description: null, verified: null },
    { name: "a", description: "", verified: false },
    [],
  ],
  ["a text", "group", { name: "a", description: null }, { name: "b", description: "by hand" }, ["name", "description"]],
  [
    "what an older provider does not know",
    "group",
    { name: "a" },
    { name: "a", description: "x", kind: "ORG_KIND_DEV" },
    [],
  ],
  ["the kind of a group below", "group", { kind: null }, { kind: "ORG_KIND_DEV" }, []],
  ["the kind of an organization", "group", { kind: "DEV" }, { uid: ROOT, kind: "ORG_KIND_CUSTOMER" }, ["kind"]],
  ["the same kind", "group", { kind: "DEV" }, { uid: ROOT, kind: "ORG_KIND_DEV" }, []],
  [
    "capabilities in another order",
    "role",
    { description: "", capabilities: ["tag.create", "repo.list"] },
    { capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] },
    [],
  ],
  [
    "a capability more",
    "role",
    { capabilities: ["repo.list"] },
    { capabilities: ["CAP_REPO_LIST", "CAP_NEW"] },
    ["capabilities"],
  ],
  [
    "an empty map of claims",
    "identity",
    { claim_match: { issuer: "i", claims: {}, claim_patterns: null } },
    { claimMatch: { issuer: "i" } },
    [],
  ],
  [
    "a claim of any name",
    "identity",
    { claim_match: { claims: JSON.parse('{"__proto__":"x"}') } },
    { claimMatch: { claims: {} } },
    ["claim_match.claims"],
  ],
  [
    "a block as a list of one",
    "identity",
    { claim_match: [{ issuer: "i", subject: "s" }] },
    { claimMatch: { issuer: "i", subject: "t" } },
    ["claim_match.subject"],
  ],
  [
    "another relationship",
    "identity",
    { claim_match: { issuer: "i" }, service_principal: null },
    { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    ["claim_match.issuer", "service_principal"],
  ],
  ["keys and times in another spelling", "identity", { static: keys }, { staticKeys: live }, []],
  [
    "another second",
    "identity",
    { static: keys },
    { staticKeys: { ...live, expirationTime: "2026-12-31T22:00:01Z" } },
    ["static.expiration"],
  ],
  [
    "the client secret, which is never read",
    "identity_provider",
    { oidc: { client_id: "c", client_secret: "s" } },
    { oidc: { clientId: "c" } },
    [],
  ],
  [
    "scopes in another order",
    "identity_provider",
    { oidc: { additional_scopes: ["b", "a"] } },
    { oidc: { additionalScopes: ["a", "b"] } },
    [],
  ],
  [
    "who has a role",
    "rolebinding",
    { identity: "x", role: "r" },
    { identity: { uid: "y" }, role: { uid: "r" } },
    ["identity"],
  ],
  [
    "the end of an invite, which the provider only computes from",
    "group_invite",
    { role: "r", email: null, expiration: "2027-01-01T00:00:00Z" },
    { role: { uid: "r" }, expirationTime: "2026-01-01T00:00:00Z" },
    [],
  ],
  [
    "the first installation of the deprecated block",
    "account_associations",
    { github: { app_id: 7, installation_id: 1, name: null }, github_installation: [] },
    installed("9"),
    [],
  ],
  [
    "an installation more",
    "account_associations",
    {
      github: null,
      github_installation: [
        { app_id: 7, installation_id: 1, name: "" },
        { app_id: 12, installation_id: 9, name: "acme" },
      ],
    },
    installed("9", "10"),
    ["github_installation"],
  ],
  [
    "what the service has chosen",
    "image_repo",
    { description: null, bundles: null, tier: null },
    { description: "d", bundles: ["base"], catalogTier: "CATALOG_TIER_BASE" },
    [],
  ],
  [
    "the source as a path",
    "image_repo",
    { sync_config: { source: "acme/nginx", google: null } },
    { sync_config: { source: BELOW } },
    [],
  ],
  [
    "another source",
    "image_repo",
    { sync_config: { source: `${ROOT}/${"b".repeat(16)}` } },
    { sync_config: { source: BELOW } },
    ["sync_config.source"],
  ],
])("%s: %s", (_, type, attributes, record, expected) => {
  expect(changes(type, attributes, record)).toEqual(expected);
});

test("a type that every object has is no resource", () => {
  expect(["constructor", "__proto__", "toString", "chainguard_subscription"].map(resourceTypeOf)).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});
