// What every kind of record shares: it is answered as it was given, and a create is refused with every violation
// (docs/internals/contract.md#values, docs/internals/contract.md#d29). PATCH (docs/internals/contract.md#updates, docs/internals/contract.md#d18, AIP-134):
// which fields change. test/schema/update-mask.test.ts has the masks.
import { beforeEach, describe, expect, test } from "vitest";
import { Group } from "../../../schema/index.ts";
import { parseSeed } from "../../../server/index.ts";
import { changeInput } from "../../../server/services/record.ts";
import { IAM, ownKeys, REGISTRY, serve } from "../../harness/api-server.ts";
import { COLLECTIONS, type Collection, createRecord, createUid, postRecord, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectRefusal, NO_NAME, NO_UID, type Violations } from "../../support/refusal.ts";

const NOW = "2026-01-28T12:54:21.189Z";
const TIMES = { createTime: NOW, updateTime: NOW };
const DIGEST = `sha256:${"b".repeat(64)}`;
const LIST_REPOS = "CAP_REPO_LIST";
const ONCE = [LIST_REPOS, "CAP_IAM_GROUPS_LIST"];
const TWICE = [...ONCE, LIST_REPOS];

const seed = parseSeed(
  `
organization: { name: acme.example, description: The organization, verified: true, kind: ORG_KIND_CUSTOMER }
groups: [{ name: eng }, { name: sales }]
roles:
  - { name: pusher, group: eng, description: Pushes, capabilities: [repo.create] }
  - { name: seller, group: sales, capabilities: [repo.create] }
`,
  "seed.yaml",
);
const api = await serve({ seed });
const { organization } = api;
const one = async (kind: string, name: string): Promise<Body> =>
  (await api.ok("GET", `${IAM}/${kind}`, { query: { name } }))[kind][0];
const [{ uid: eng }, pusher, { uid: seller }] = [
  await one("groups", "eng"),
  await one("roles", "pusher"),
  await one("roles", "seller"),
];
const viewer = await api.role("viewer");

const EXACT = { issuer: "https://token.actions.githubusercontent.com", subject: "repo:my-org@1/my-repo@2" };
const PATTERNS = { issuerPattern: "https://.*", subjectPattern: "s.*" };
const bound = await createRecord(api, "identities", organization, { description: "d", claimMatch: EXACT });
const byPattern = await createRecord(api, "identities", organization, { claimMatch: PATTERNS });
const binding = ({ uid, name, description }: Body, claims: Body) => ({
  identity: { uid, name, description, ...claims },
  group: { uid: organization, name: "acme.example", description: "The organization" },
  role: { uid: viewer, name: "viewer", description: "Built-in role: viewer" },
  createTime: NOW,
  identityUid: undefined,
  roleUid: undefined,
});
const bind = ({ uid: identityUid }: Body) => ({ identityUid, roleUid: viewer });
const NO_CLAIMS = { issuer: "", subject: "" };
const OVERLAY = {
  contents: {
    packages: ["curl"],
    runtimeRepositories: ["https://packages.example"],
    runtimeKeyring: [{ name: "k", content: "c" }],
  },
  environment: { HTTP_PROXY: "p", MY_CHAINGUARD_: "x" },
  annotations: { "com.example.team": "x", "org.opencontainer": "x" },
  accounts: {
    runAs: "65532",
    users: [{ username: "u", uid: 7, gid: 7, groupName: "g", shell: "/bin/sh", homeDir: "/" }],
    groups: [{ groupname: "g", gid: 7, members: ["u"] }],
  },
  certificates: { additional: [{ name: "ca", content: "c" }], providers: ["java"] },
};
const REPO = {
  name: "nginx",
  description: "A server",
  catalogTier: "CATALOG_TIER_APPLICATION",
  bundles: ["application", "base", "byol", "ai", "ai-gpu", "featured", "fips", "commercial", "emeritoss"],
  aliases: ["nginx:latest", "docker.io/library/nginx:1.27", "a_b.c-d:x"],
  activeTags: ["latest", "1.27", "_x"],
  customOverlay: OVERLAY,
};
const repo = await createUid(api, "repos", eng);
const TAG = { name: "1.27-dev", digest: DIGEST, deprecated: true, bundles: ["base"] };
// With --dev an issuer may be on loopback.
const OIDC = { issuer: "http://127.0.0.1:8080", clientId: "client" };
const SIGN_IN = {
  ...OIDC,
  additionalScopes: ["groups", "profile"],
  groupsClaim: "groups",
  correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
  pkceEnabled: true,
};
const WITH_SECRET = { ...OIDC, clientSecret: "s" };
const IDP = { name: "okta", description: "people", defaultRole: viewer };
const NO_SCIM = { scim: { credentialState: "CREDENTIAL_STATE_NOT_ISSUED" } };
const provider = await createUid(api, "identityProviders", eng, { ...IDP, oidc: SIGN_IN });
const CLOUDS = {
  name: "accounts",
  description: "where we are",
  amazon: { account: "123456789012" },
  google: { projectId: "my-project", projectNumber: "42" },
  chainguard: { serviceBindings: { INGESTER: "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d" } },
  azure: { tenantId: "t", clientIds: { syncer: "c" } },
  github: {
    appInstallations: { "9007199254740993": { installations: [{ installationId: "9007199254740995", name: "acme" }] } },
  },
};
const MAPPING = { externalGroupId: "CN=SRE,OU=Platform \u00c4", roleUid: viewer, scope: organization };
const INVITE = { roleUid: pusher.uid, email: "new@acme.example", singleUse: true, ttl: "86400.5s" };
const SHOWN_INVITE = {
  role: (({ uid, name, description, capabilities }) => ({ uid, name, description, capabilities }))(pusher),
  keyId: expect.any(String),
  expirationTime: "2026-01-29T12:54:21.689Z",
  createTime: NOW,
  ttl: undefined,
};

const SHOWN_GROUP = { description: "", resourceLimits: {}, verified: false, kind: "ORG_KIND_CUSTOMER", ...TIMES };

/** What is not shown is undefined. */
test.each<[what: string, Collection, parent: string, given: Body, shown: Body]>([
  ["group", "groups", eng, { name: "g" }, SHOWN_GROUP],
  ["identity", "identities", eng, { name: "i", claimMatch: EXACT }, { description: "", lastSeenTime: NOW, ...TIMES }],
  ["role", "roles", eng, { name: "r", capabilities: TWICE }, { description: "", capabilities: ONCE, ...TIMES }],
  ["role binding", "roleBindings", organization, bind(bound), binding(bound, EXACT)],
  ["role binding by patterns", "roleBindings", organization, bind(byPattern), binding(byPattern, NO_CLAIMS)],
  ["repo", "repos", eng, REPO, TIMES],
  ["tag", "tags", repo, TAG, { updateTime: NOW }],
  ["identity provider", "identityProviders", eng, { ...IDP, oidc: SIGN_IN }, { ...NO_SCIM, ...TIMES }],
  ["secret", "identityProviders", eng, { ...IDP, oidc: WITH_SECRET }, { oidc: OIDC, ...NO_SCIM, ...TIMES }],
  ["account association", "accountAssociations", eng, CLOUDS, TIMES],
  ["mapping", "externalGroupRoleMappings", provider, MAPPING, { identityProviderUid: provider, createTime: NOW }],
  ["invite", "groupInvites", eng, INVITE, SHOWN_INVITE],
])("a %s is answered as it was given, by create, get and list", async (_, collection, parent, given, shown) => {
  // Only the create shows a code.
  const { code: _code, ...made } = await createRecord(api, collection, parent, given);
  const uid = collection === "accountAssociations" ? parent : expect.stringMatching(`^${parent}/[0-9a-f]{16}$`);
  expect(made).toEqual({ uid, ...given, ...shown });
  const path = `${COLLECTIONS[collection][0]}/${collection}`;
  expect(await api.ok("GET", `${path}/${made.uid}`)).toEqual(made);
  const { scim: _scim, ...listed } = made;
  expect((await api.ok("GET", path, { query: { "uidp.ids": made.uid } }))[collection]).toEqual([listed]);
});

const NAME = "must be at most 255 characters without white space";
const BUNDLE =
  'only the following keywords are valid "^application$|^base$|^byol$|^ai$|^ai-gpu$|^featured$|^fips$|^commercial$|^emeritoss$"';
const ALIAS = String.raw`each alias must match "^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.\-]:[a-zA-Z0-9_.\-]+$"`;
const TAG_NAME = 'tag must match "^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"';
const SHA = 'digest must match "^sha256:[0-9a-f]{64}$"';
const URL_FORM = "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";
const NEEDS_INTERNAL = "must contain internal, since it contains rex.class.use, cassie.cas.read";
const NO_SECRET = "is required unless pkceEnabled is set";
const OURS = "must not be the issuer of this service";
const TTL = "must be more than 0s and at most 315360000s";
const EMAIL = "must be an e-mail address of at most 254 characters";
const MISSING = `${organization}/ffffffffffffffff`;
const elsewhere = (uid: string, at: string) => `role ${uid} does not exist at ${at} or above`;
const NOT_SCOPE = `must be the organization of the identity provider, ${organization}`;
const noKey = (...prefixes: string[]) =>
  `must have no key that begins with ${prefixes.map((one) => `"${one}"`).join(" or ")}`;

/** Absent, and what is said of it. */
const no = (...names: string[]): Body => Object.fromEntries(names.map((name) => [name, undefined]));
const required = (...names: string[]): Violations => Object.fromEntries(names.map((name) => [name, "is required"]));

const DEFAULTS: Partial<Record<Collection, Body>> = {
  identityProviders: { defaultRole: viewer, oidc: WITH_SECRET },
  groupInvites: { roleUid: viewer },
  externalGroupRoleMappings: MAPPING,
};
const PARENTS: Partial<Record<Collection, string>> = { tags: repo, externalGroupRoleMappings: provider };

const KEYS = { issuer: api.authUrl, subject: "s", issuerKeys: ownKeys() };
const INTERNAL = ["CAP_REX_CLASS_USE", "CAP_CASSIE_CAS_READ", LIST_REPOS];
const UNKNOWN = { identityUid: MISSING, roleUid: MISSING };
const NOBODY = { identityUid: `identity ${MISSING} does not exist`, roleUid: elsewhere(MISSING, eng) };
const VARIABLE = { customOverlay: { environment: { A: "x", CHAINGUARD_X: "x" } } };
const ANNOTATION = { customOverlay: { annotations: { "dev.chainguard.x": "x" } } };
const NO_CLIENT = { "oidc.issuer": URL_FORM, ...required("oidc.clientId"), "oidc.clientSecret": NO_SECRET };
const LONG_SECRET = { oidc: { ...OIDC, clientSecret: "x".repeat(4097) } };
const NO_CLOUDS = { amazon: {}, google: {}, azure: {}, chainguard: {} };
const NO_ACCOUNT = {
  "amazon.account": 'AWS account ID must match "^[0-9]{12}$"',
  ...required("google.projectId", "google.projectNumber", "chainguard.serviceBindings"),
  ...required("azure.tenantId", "azure.clientIds"),
};
const UNBOUND = { chainguard: { serviceBindings: { INGESTER: "me" } } };
const NO_MAPPING = { ...required("externalGroupId"), roleUid: NO_UID, scope: NO_UID };
const BELOW = { scope: eng, roleUid: MISSING };
const NOT_BELOW = { scope: NOT_SCOPE, roleUid: elsewhere(MISSING, organization) };
const NO_KIND = { name: NO_NAME, defaultRole: NO_UID, oidc: "one of oidc must be set" };
const AT_MOST = "must be at most";

const REFUSED: Partial<Record<Collection, [what: string, fields: Body, Violations][]>> = {
  groups: [["a kind below", { kind: "ORG_KIND_DEV" }, { kind: "belongs to the root group; leave it out below" }]],
  identities: [
    ["our own issuer", { claimMatch: { issuer: api.authUrl, subject: "s" } }, { "claimMatch.issuer": OURS }],
    ["our own issuer for its keys", { staticKeys: KEYS }, { "staticKeys.issuer": OURS }],
  ],
  roles: [["what is internal without internal", { capabilities: INTERNAL }, { capabilities: NEEDS_INTERNAL }]],
  roleBindings: [
    ["a missing identity and role", UNKNOWN, NOBODY],
    ["a role beside", { identityUid: bound.uid, roleUid: seller }, { roleUid: elsewhere(seller, eng) }],
  ],
  repos: [
    ["no name", no("name"), required("name")],
    ["a name with a space", { name: "a b" }, { name: NAME }],
    ["a long name", { name: "a".repeat(256) }, { name: NAME }],
    ["an unknown bundle", { bundles: ["base", "gold"] }, { "bundles[1]": BUNDLE }],
    ["an alias without a tag", { aliases: ["nginx"] }, { "aliases[0]": ALIAS }],
    ["a tag that begins with a dot", { activeTags: [".x"] }, { "activeTags[0]": TAG_NAME }],
    ["a variable of the platform", VARIABLE, { "customOverlay.environment": noKey("CHAINGUARD_") }],
    ["its annotations", ANNOTATION, { "customOverlay.annotations": noKey("dev.chainguard.", "org.opencontainers.") }],
  ],
  tags: [
    ["nothing", no("name", "digest"), { name: TAG_NAME, digest: SHA }],
    ["a name of 129 characters", { name: "x".repeat(129) }, { name: TAG_NAME }],
    ["a digest in upper case", { digest: `sha256:${"A".repeat(64)}` }, { digest: SHA }],
  ],
  identityProviders: [
    ["no name, role and kind", no("name", "defaultRole", "oidc"), NO_KIND],
    ["nothing about its client", { oidc: {} }, NO_CLIENT],
    ["an overlong secret", LONG_SECRET, { "oidc.clientSecret": `${AT_MOST} 4096 characters` }],
    ["our issuer, whose tokens sign in", { oidc: { ...WITH_SECRET, issuer: api.authUrl } }, { "oidc.issuer": OURS }],
    ["a role beside", { defaultRole: seller }, { defaultRole: elsewhere(seller, eng) }],
  ],
  accountAssociations: [
    ["empty members", NO_CLOUDS, NO_ACCOUNT],
    ["a service that is bound to no uid", UNBOUND, { "chainguard.serviceBindings": `each value ${NO_UID}` }],
  ],
  externalGroupRoleMappings: [
    ["nothing", no("externalGroupId", "roleUid", "scope"), NO_MAPPING],
    ["a long group", { externalGroupId: "g".repeat(1025) }, { externalGroupId: `${AT_MOST} 1024 characters` }],
    ["a scope below, and an unknown role", BELOW, NOT_BELOW],
    ["a scope of another organization", { scope: "f".repeat(40) }, { scope: NOT_SCOPE }],
  ],
  groupInvites: [
    ["neither role nor life", no("roleUid", "ttl"), { roleUid: NO_UID, ...required("ttl") }],
    ["no life", { ttl: "0s" }, { ttl: TTL }],
    ["an unlimited life", { ttl: "315360001s" }, { ttl: TTL }],
    ["a malformed address", { email: "acme.example" }, { email: EMAIL }],
    ["an address too long for mail", { email: `${"a".repeat(250)}@b.example` }, { email: EMAIL }],
    ["a role beside", { roleUid: seller }, { roleUid: elsewhere(seller, eng) }],
  ],
};

describe.each(Object.entries(REFUSED) as [Collection, [string, Body, Violations][]][])(
  "a create in %s",
  (collection, rows) => {
    test.each(rows)("is refused with %s", async (_, fields, violations) => {
      const body = { ...DEFAULTS[collection], ...fields };
      const answer = await postRecord(api, collection, PARENTS[collection] ?? eng, body);
      expectInvalid(answer, violations, COLLECTIONS[collection][0] === REGISTRY ? "registry" : "iam");
    });
  },
);

let group: Body;
const root = api.organization;
beforeEach(async () => {
  group = await createRecord(api, "groups", api.organization, { name: "before", description: "d" });
});

const patch = (body: Body, updateMask?: string, uid = group.uid) =>
  api.call("PATCH", `${IAM}/groups/${uid}`, { body, query: { updateMask } });
const ok = (...change: Parameters<typeof patch>): Promise<Body> => recordOf(patch(...change));
const stored = () => api.ok("GET", `${IAM}/groups/${group.uid}`);

test("a field outside of a mask is neither applied nor validated", async () => {
  const json = await ok({ name: "NOT A NAME", description: "new" }, "description");
  expect(json).toEqual({ ...group, description: "new" });
  expect(await stored()).toEqual(json);
});

const KIND = { kind: "cannot be changed by this request; name it in updateMask on a root group" };

test("the wildcard on a group is full replacement of name, description and verified", async () => {
  expect(await ok({ name: "after" }, "*")).toEqual({ ...group, name: "after", description: "" });
});

test("the wildcard on a group keeps kind and status, accepts them restated, and does not change the kind", async () => {
  for (const kind of [undefined, "ORG_KIND_CUSTOMER"]) {
    const json = await ok({ name: "acme.example", verified: true, kind, status: "ORG_STATUS_SUSPENDED" }, "*", root);
    expect(json).toMatchObject({ name: "acme.example", kind: "ORG_KIND_CUSTOMER", verified: true });
    expect(json).not.toHaveProperty("status");
  }
  expectInvalid(await patch({ name: "acme.example", kind: "ORG_KIND_DEV" }, "*", root), KIND);
});

test("the kind of a group takes effect only when it is named, and below the root is inherited", async () => {
  const ignored = await ok({ kind: "ORG_KIND_DEV", description: "x" }, "description", root);
  expect(ignored.kind).toBe("ORG_KIND_CUSTOMER");
  expect((await ok({ kind: "ORG_KIND_DEV" }, "kind", root)).kind).toBe("ORG_KIND_DEV");
  expect((await stored()).kind).toBe("ORG_KIND_DEV");
  await ok({ kind: "ORG_KIND_CUSTOMER" }, "kind", root);
});

test("the kind of a group is not changed below the root", async () => {
  expectInvalid(await patch({ kind: "ORG_KIND_DEV" }), KIND);
  expectInvalid(await patch({ kind: "ORG_KIND_DEV" }, "kind"), KIND);
  await ok({ kind: "ORG_KIND_UNSPECIFIED", description: "new" });
});

test("verified is set by the operator only, and may be restated", async () => {
  const answer = await patch({ verified: true });
  expectRefusal(answer, "PERMISSION_DENIED", "verified is set by the operator of the service");
  expect((await stored()).verified).toBe(false);
  await ok({ verified: true, description: "x" }, undefined, root);
  await ok({ verified: false });
});

test("verified belongs to the name: a rename requires giving it up", async () => {
  const renamed = await patch({ name: "other.example" }, undefined, root);
  expectRefusal(renamed, "PERMISSION_DENIED", "the name of a verified group is set by the operator of the service");
  const own = await serve({ seed });
  const path = `${IAM}/groups/${own.organization}`;
  const both = await own.ok("PATCH", path, { body: { name: "other.example", verified: false } });
  expect(both).toMatchObject({ name: "other.example", verified: false });
});

test("a field that breaks a rule already is refused where the mask names it, and blocks no other change", () => {
  const current = { name: "OF A COPY" };
  const change = { name: "OF A COPY", description: "new" };
  expect(changeInput(Group, current, change, "description").next).toEqual(change);
  expect(() => changeInput(Group, current, change, "name")).toThrow(`name: ${NO_NAME}`);
});

describe("an identity", () => {
  const AWS = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "u" };
  const ONE = { claimMatch: "one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set" };
  const identity = (fields?: Body) => createRecord(api, "identities", root, fields);
  const change = (uid: string, body: Body, updateMask?: string) =>
    api.call("PATCH", `${IAM}/identities/${uid}`, { body, query: { updateMask } });
  const shown = (uid: string) => api.ok("GET", `${IAM}/identities/${uid}`);

  test("switches its relationship to AWS, to keys and back, and the exchange follows", async () => {
    const { claimMatch: _, ...rest } = await identity({ description: "d" });
    expect((await change(rest.uid, { awsIdentity: AWS })).json).toEqual({ ...rest, awsIdentity: AWS });
    const staticKeys = { issuer: "https://keys.example", subject: "k", issuerKeys: ownKeys() };
    const keyed = { staticKeys: { ...staticKeys, expirationTime: "2027-01-28T12:54:21.189Z" } };
    expect((await change(rest.uid, { staticKeys })).json).toEqual({ ...rest, ...keyed });
    const claimMatch = { issuer: api.issuer, subject: "back" };
    expect((await change(rest.uid, { claimMatch })).json).toEqual({ ...rest, claimMatch });
    expect(await api.token(rest.uid, { subject: "back" })).toMatch(/^ey/);
  });

  test("cannot lose a member that it needs, whichever of a oneof is set", async () => {
    const byPattern = { issuerPattern: "https://.*", subjectPattern: "s" };
    const { uid } = await identity({ claimMatch: byPattern });
    const text = "one of issuer, issuerPattern must be set";
    expectInvalid(await change(uid, {}, "claimMatch.issuerPattern"), { "claimMatch.issuer": text });
    expect((await shown(uid)).claimMatch).toEqual(byPattern);
    const aws = await identity({ awsIdentity: AWS });
    expectInvalid(await change(aws.uid, {}, "awsIdentity"), ONE);
    expectInvalid(await change(aws.uid, { awsIdentity: null }), ONE);
    expect(await shown(aws.uid)).toEqual(aws);
  });

  test("is changed by the rules by which it is created", async () => {
    const own = await identity();
    const text = "must not be the issuer of this service";
    expectInvalid(await change(own.uid, { claimMatch: { issuer: api.baseUrl } }), { "claimMatch.issuer": text });
    const { json } = await change(own.uid, { claimMatch: { subjectPattern: "(" } });
    expect(json.message).toMatch(/^Invalid argument: claimMatch\.subjectPattern: must be an RE2 pattern: /);
    expect(await shown(own.uid)).toEqual(own);
  });
});

test("a role binding changes its role and keeps its identity, and the other way round", async () => {
  const link = { identityUid: api.identity, roleUid: await api.role("viewer") };
  const binding = await createRecord(api, "roleBindings", root, link);
  const change = (body: Body) => api.ok("PATCH", `${IAM}/roleBindings/${binding.uid}`, { body });
  const roleUid = await api.role("editor");
  const role = { uid: roleUid, name: "editor", description: "Built-in role: editor" };
  expect(await change({ roleUid })).toEqual({ ...binding, role });
  const identityUid = (await api.actor("other")).uid;
  expect(await change({ identityUid })).toMatchObject({ identity: { uid: identityUid }, role });
});
