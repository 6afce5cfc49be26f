// The cases of the kinds beside groups, identities, roles and bindings: identity providers, account associations, invites,
// repos, tags, advisories, and the methods that stand alone.
import type { OperationName } from "../../schema/index.ts";
import { createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import type { Fixture, OperationCase } from "./fixture.ts";

/** A group of its own: what a group has one of is made in it, and every server makes it at the same time. */
const group = (fixture: Fixture) => createUid(fixture.api, "groups", fixture.platform, { name: "own" });

const DIGEST = `sha256:${"b".repeat(64)}`;
const oidc = { issuer: "https://idp.example", clientId: "c", clientSecret: "s", additionalScopes: ["groups"] };
const { clientSecret, ...shownOidc } = oidc;

const idp = (fixture: Fixture) =>
  createUid(fixture.api, "identityProviders", fixture.platform, { name: "idp", defaultRole: fixture.viewer, oidc });
const association = async (fixture: Fixture): Promise<string> => {
  const parent = await group(fixture);
  return createUid(fixture.api, "accountAssociations", parent, { name: "a", amazon: { account: "123456789012" } });
};
const invite = (fixture: Fixture) =>
  createUid(fixture.api, "groupInvites", fixture.platform, { roleUid: fixture.viewer, ttl: "60s" });
const repo = async (fixture: Fixture, body: Body = {}): Promise<string> =>
  createUid(fixture.api, "repos", await group(fixture), { name: "repo", ...body });
const tag = async (fixture: Fixture): Promise<string> =>
  createUid(fixture.api, "tags", await repo(fixture), { name: "t", digest: DIGEST });

const github = { appInstallations: { "17": { installations: [{ installationId: "4503599627370497", name: "n" }] } } };
const overlay = {
  contents: { packages: ["curl"], runtimeKeyring: [{ name: "k", content: "c" }] },
  environment: { A_B: "1" },
  annotations: { "my.org/x": "y" },
  accounts: { runAs: "65532", users: [{ username: "u", uid: 7 }], groups: [{ groupname: "g", members: ["u"] }] },
};

export const resourceCases = {
  GetIdentityProvider: {
    request: ({ provider: uid }) => ({ uid }),
    answer: () => ({ name: "sso", oidc: { clientId: "c" }, scim: { credentialState: "CREDENTIAL_STATE_NOT_ISSUED" } }),
  },
  ListIdentityProviders: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, name: "sso", pageSize: 1, orderBy: "name desc" }),
    answer: ({ provider: uid }) => ({ identityProviders: [{ uid }], totalCount: "1", skipped: 0 }),
  },
  CreateIdentityProvider: {
    request: ({ platform, viewer }) => ({
      parent: platform,
      identityProvider: { name: "new", description: "d", defaultRole: viewer, oidc },
    }),
    answer: ({ viewer }) => ({ name: "new", description: "d", defaultRole: viewer, oidc: shownOidc }),
  },
  UpdateIdentityProvider: {
    request: async (fixture) => ({
      identityProvider: { uid: await idp(fixture), name: "ignored", oidc: { groupsClaim: "g" } },
      updateMask: "oidc.groupsClaim",
    }),
    answer: () => ({ name: "idp", oidc: { ...shownOidc, groupsClaim: "g" } }),
  },
  DeleteIdentityProvider: { request: async (fixture) => ({ uid: await idp(fixture) }), answer: () => ({}) },
  GetAccountAssociation: {
    request: ({ eng: uid }) => ({ uid }),
    answer: ({ eng: uid }) => ({ uid, name: "cloud", amazon: { account: "123456789012" } }),
  },
  ListAccountAssociations: {
    request: ({ eng }) => ({ uidp: { ids: [eng] }, name: "cloud", pageSize: 1, orderBy: "name" }),
    answer: ({ eng: uid }) => ({ accountAssociations: [{ uid }], totalCount: "1", skipped: 0 }),
  },
  CreateAccountAssociation: {
    request: async (fixture) => ({
      parent: await group(fixture),
      accountAssociation: {
        name: "new",
        google: { projectId: "p", projectNumber: "1" },
        azure: { tenantId: "t", clientIds: { component: "id" } },
        github,
      },
    }),
    answer: (_, { parent: uid }) => ({
      uid,
      google: { projectId: "p" },
      azure: { clientIds: { component: "id" } },
      github,
    }),
  },
  UpdateAccountAssociation: {
    request: async (fixture) => ({
      accountAssociation: { uid: await association(fixture), name: "ignored", description: "changed" },
      updateMask: "description",
    }),
    answer: () => ({ name: "a", description: "changed" }),
  },
  DeleteAccountAssociation: { request: async (fixture) => ({ uid: await association(fixture) }), answer: () => ({}) },
  CheckAccountAssociation: {
    request: ({ eng: uid }) => ({ uid, providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" }),
    answer: () => ({ status: "CHECK_STATUS_READY" }),
  },
  GetGroupInvite: {
    request: ({ invite: uid }) => ({ uid }),
    answer: ({ viewer }) => ({ roleUid: viewer, role: { name: "viewer" }, expirationTime: "2026-01-28T12:55:21.189Z" }),
    volatile: ["keyId"],
  },
  ListGroupInvites: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, pageSize: 1, orderBy: "create_time desc" }),
    answer: ({ invite: uid }) => ({ groupInvites: [{ uid }], totalCount: "1", skipped: 0 }),
    volatile: ["keyId"],
  },
  CreateGroupInvite: {
    request: ({ platform, viewer }) => ({
      parent: platform,
      groupInvite: { roleUid: viewer, ttl: "90.500s", email: "a@example.org", singleUse: true },
    }),
    answer: ({ api }) => ({
      email: "a@example.org",
      singleUse: true,
      expirationTime: new Date(api.clock() + 90_500).toISOString(),
    }),
    volatile: ["code", "keyId"],
  },
  DeleteGroupInvite: { request: async (fixture) => ({ uid: await invite(fixture) }), answer: () => ({}) },
  CreateRepo: {
    request: async (fixture) => ({
      parent: await group(fixture),
      repo: {
        name: "new",
        description: "d",
        sync_config: { source: fixture.repo, google: "g" },
      },
    }),
    answer: ({ repo: source }) => ({ name: "new", sync_config: { source, google: "g" } }),
  },
  UpdateRepo: {
    request: async (fixture) => ({
      repo: {
        uid: await repo(fixture, { customOverlay: overlay }),
        name: "ignored",
        catalogTier: "CATALOG_TIER_BASE",
        bundles: ["base"],
        aliases: ["other:1"],
        customOverlay: { environment: { C_D: "2" } },
      },
      updateMask: "catalogTier,bundles,aliases,customOverlay.environment",
    }),
    answer: () => ({
      name: "repo",
      catalogTier: "CATALOG_TIER_BASE",
      bundles: ["base"],
      customOverlay: { ...overlay, environment: { C_D: "2" } },
    }),
  },
  DeleteRepo: { request: async (fixture) => ({ uid: await repo(fixture) }), answer: () => ({}) },
  GetRepoReadme: { request: ({ repo: uid }) => ({ uid }), answer: () => ({ content: "# nginx" }) },
  UpdateRepoReadme: {
    request: async (fixture) => ({ repoReadme: { uid: await repo(fixture), content: "# new" }, updateMask: "content" }),
    answer: () => ({ content: "# new" }),
    bearer: ({ api, librarian }) => api.token(librarian, { subject: "librarian" }),
  },
  GetTag: { request: ({ tag: uid }) => ({ uid }), answer: () => ({ name: "latest" }) },
  ListTags: {
    request: ({ repo: uid }) => ({
      uidp: { childrenOf: uid },
      updatedSince: "2026-01-01T00:00:00.000Z",
      includeReferrers: true,
      includeDates: true,
      includeEpochs: true,
      digest: `sha256:${"a".repeat(64)}`,
      pageSize: 1,
      orderBy: "name desc",
      skip: 1,
    }),
    answer: () => ({ tags: [{ name: "latest-r1" }], totalCount: "4", skipped: 1 }),
  },
  CreateTag: {
    request: async (fixture) => ({
      parent: await repo(fixture),
      tag: { name: "new", digest: DIGEST, deprecated: true, bundles: ["fips"] },
    }),
    answer: () => ({ name: "new", digest: DIGEST, deprecated: true, bundles: ["fips"] }),
  },
  DeleteTag: { request: async (fixture) => ({ uid: await tag(fixture) }), answer: () => ({}) },
  GetAdvisory: {
    request: ({ advisory: uid }) => ({ uid }),
    answer: () => ({
      advisoryId: "CGA-xvgw-cvr7-9g2q",
      events: [{ findings: "eyJhIjoxfQ==", detection: { manual: {} } }, {}],
    }),
  },
  ListAdvisories: {
    request: ({ eng }) => ({
      uidp: { descendantsOf: eng },
      advisoryIds: ["CGA-xvgw-cvr7-9g2q", "CGA-none-none-none"],
      legacyAdvisoryIds: ["CGA-old"],
      artifactNames: ["nginx"],
      artifactTypes: ["apk"],
      artifactArchitectures: ["x86_64"],
      componentNames: ["openssl"],
      componentTypes: ["apk"],
      componentLocations: ["/usr/lib"],
      aliases: ["CVE-2026-1"],
      eventReviewStates: ["REVIEW_STATE_PENDING"],
      eventAuthors: ["b"],
      excludeEventAuthors: ["c"],
      eventReviewers: ["r"],
      eventTypes: ["EVENT_TYPE_FILTER_PATCHED"],
      latestEventType: "EVENT_TYPE_FILTER_DETECTION",
      query: "SSL",
      pageSize: 1,
      orderBy: "create_time desc",
    }),
    answer: ({ advisory: uid }) => ({ advisories: [{ uid }], totalCount: "1", skipped: 0 }),
  },
  LookupGroup: {
    request: () => ({}),
    answer: () => ({ group: { name: "acme.example", verified: true } }),
    bearer: async ({ api }) => {
      const claims = { email: "a@acme.example", email_verified: true };
      const { json } = await api.exchange(await api.identityToken("owner", { claims }), {
        aud: api.baseUrl,
        identity: api.identity,
      });
      return json.token as string;
    },
  },
  Ping: { request: () => ({}), answer: () => ({ response: "pong" }), bearer: () => null },
  Validate: {
    request: () => ({}),
    answer: ({ api }) => ({ issuer: api.authUrl, subject: api.identity, audience: [api.baseUrl] }),
  },
  ExchangeRefreshToken: {
    request: ({ api }) => ({ aud: [api.baseUrl], cap: ["groups.list"], scopes: [api.organization] }),
    answer: () => ({ token: { expiry: "2026-01-28T13:54:21.000Z" }, refreshToken: {} }),
    bearer: async ({ api }) => {
      const query = { aud: api.baseUrl, identity: api.identity };
      return (await api.exchange(await api.identityToken("owner"), query)).json.refreshToken as string;
    },
    volatile: ["token", "refreshToken"],
  },
} satisfies Partial<Record<OperationName, OperationCase>>;
