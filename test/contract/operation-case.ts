// For each served method, a request that uses every field of its message, and the expected effect on the response. A
// misread spelling would be an unknown field, silently ignored, and the response would differ.

import { expect } from "vitest";
import { type Operation, type OperationName, operations } from "../../schema/index.ts";
import { parseSeed, type ServerOptions } from "../../server/index.ts";
import { IAM, startServer } from "../harness/api-server.ts";
import { type Collection, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import type { Fixture, OperationCase } from "./fixture.ts";
import { resourceCases } from "./resource-case.ts";

export const seed = parseSeed(
  `
organization: { name: acme.example, verified: true }
groups: [{ name: eng }, { name: platform, parent: eng }, { name: sales }]
roles:
  - { name: deployer, group: eng, capabilities: [groups.list] }
  # Only a seed can create and bind a role with capabilities that no caller holds.
  - { name: librarian, capabilities: [internal, repo.internal.admin, repo.update] }
identities:
  - { name: ci, group: eng, claimMatch: { issuer: "https://issuer.example", subject: ci } }
  - { name: librarian, claimMatch: { issuer: dev-issuer, subject: librarian } }
bindings:
  - { identity: eng/ci, role: eng/deployer, group: eng }
  - { identity: librarian, role: librarian }
identityProviders:
  - { name: sso, group: eng, defaultRole: viewer, oidc: { issuer: "https://idp.example", clientId: c, clientSecret: s } }
accountAssociations: [{ name: cloud, group: eng, amazon: { account: "123456789012" } }]
repos:
  - name: nginx
    group: eng
    readme: "# nginx"
    tags:
      - { name: latest, digest: "sha256:${"a".repeat(64)}" }
      - { name: latest-r1, digest: "sha256:${"a".repeat(64)}" }
      - { name: latest-20260101, digest: "sha256:${"a".repeat(64)}" }
      - { name: sha256-a, digest: "sha256:${"a".repeat(64)}" }
  - { name: curl, group: eng }
  - { name: ruby, group: eng }
advisories:
  - advisoryId: CGA-xvgw-cvr7-9g2q
    legacyAdvisoryId: CGA-old
    group: eng
    author: a
    artifactName: nginx
    artifactType: apk
    artifactArchitecture: x86_64
    componentName: openssl
    componentLocation: /usr/lib
    componentType: apk
    aliases: [CVE-2026-1]
    severities: [{ type: TYPE_CVSS_V3, score: "9.8" }]
    events:
      - { author: a, reviewer: r, reviewState: REVIEW_STATE_APPROVED, findings: eyJhIjoxfQ==, detection: { manual: {} } }
      - { author: b, reviewState: REVIEW_STATE_PENDING, patched: { patchedVersions: ["1.2"] } }
`,
  "seed.yaml",
);

export const startFixture = async (options: Pick<ServerOptions, "store"> = {}): Promise<Fixture> => {
  const api = await startServer({ seed, refreshTokens: true, ...options });
  const only = async (path: string, plural: string, query: Body): Promise<string> => {
    const { [plural]: found } = await api.ok("GET", path, { query });
    expect(found).toHaveLength(1);
    return found[0].uid as string;
  };
  const eng = await only(`${IAM}/groups`, "groups", { name: "eng" });
  const viewer = await api.role("viewer");
  return {
    api,
    organization: api.organization,
    eng,
    platform: await only(`${IAM}/groups`, "groups", { name: "platform" }),
    identity: await only(`${IAM}/identities`, "identities", { name: "ci" }),
    role: await only(`${IAM}/roles`, "roles", { name: "deployer" }),
    binding: await only(`${IAM}/roleBindings`, "roleBindings", { group: eng }),
    repo: await only("/registry/v2beta1/repos", "repos", { name: "nginx" }),
    tag: await only("/registry/v2beta1/tags", "tags", { name: "latest" }),
    provider: await only(`${IAM}/identityProviders`, "identityProviders", { name: "sso" }),
    invite: await createUid(api, "groupInvites", eng, { roleUid: viewer, ttl: "60s" }),
    advisory: await only("/vulnerabilities/v2beta1/advisories", "advisories", {}),
    viewer,
    librarian: await only(`${IAM}/identities`, "identities", { name: "librarian" }),
  };
};

const claimMatch = {
  issuerPattern: "https://.*",
  subjectPattern: "s.*",
  audiencePattern: "a.*",
  claimPatterns: { ref: "r" },
};

export const make = ({ api }: Fixture, collection: Collection, parent: string, body: Body): Promise<string> =>
  createUid(api, collection, parent, body);

const binding = ({ identity, viewer }: Fixture) => ({ identityUid: identity, roleUid: viewer });
const hydrated = ({ identity, viewer }: Fixture) => ({ identity: { uid: identity }, role: { uid: viewer } });

// Skips the first and takes one: without `skip`, `pageSize` or `orderBy` the response differs.
const paging = { pageSize: 1, orderBy: "create_time desc", skip: 1 };
const byName = { pageSize: 1, orderBy: "name desc", skip: 1 };

export const operationCases: Record<OperationName, OperationCase> = {
  ...resourceCases,
  GetGroup: { request: ({ eng }) => ({ uid: eng }), answer: ({ eng }) => ({ uid: eng, name: "eng" }) },
  ListGroups: {
    request: ({ organization }) => ({ uidp: { childrenOf: organization }, ...byName }),
    answer: () => ({ groups: [{ name: "eng" }], totalCount: "2", skipped: 1 }),
  },
  CreateGroup: {
    request: ({ eng }) => ({ parent: eng, group: { name: "new", description: "d" } }),
    answer: ({ eng }) => ({ uid: expect.stringMatching(`^${eng}/[0-9a-f]{16}$`), name: "new", description: "d" }),
  },
  UpdateGroup: {
    request: ({ platform }) => ({
      group: { uid: platform, name: "ignored", description: "changed" },
      updateMask: "description",
    }),
    answer: ({ platform }) => ({ uid: platform, name: "platform", description: "changed" }),
  },
  DeleteGroup: {
    request: async (fixture) => ({ uid: await make(fixture, "groups", fixture.eng, { name: "old" }) }),
    answer: () => ({}),
  },
  GetIdentity: { request: ({ identity }) => ({ uid: identity }), answer: () => ({ name: "ci" }) },
  ListIdentities: {
    request: ({ eng }) => ({
      uidp: { descendantsOf: eng },
      name: "ci",
      relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH",
      ...paging,
      skip: 0,
    }),
    answer: () => ({ identities: [{ name: "ci" }], totalCount: "1" }),
  },
  CreateIdentity: {
    request: ({ platform }) => ({ parent: platform, identity: { name: "new", claimMatch } }),
    answer: () => ({ name: "new", claimMatch }),
  },
  UpdateIdentity: {
    request: async (fixture) => {
      const uid = await make(fixture, "identities", fixture.platform, { name: "changing", claimMatch });
      return {
        identity: { uid, name: "ignored", claimMatch: { subjectPattern: "t.*" } },
        updateMask: "claimMatch.subjectPattern",
      };
    },
    answer: () => ({ name: "changing", claimMatch: { ...claimMatch, subjectPattern: "t.*" } }),
  },
  DeleteIdentity: {
    request: async (fixture) => ({
      uid: await make(fixture, "identities", fixture.platform, { name: "old", claimMatch }),
    }),
    answer: () => ({}),
  },
  LookupIdentity: {
    request: () => ({ issuer: "https://issuer.example", subject: "ci" }),
    answer: ({ identity }) => ({ uid: identity }),
  },
  GetRole: { request: ({ role }) => ({ uid: role }), answer: () => ({ name: "deployer" }) },
  ListRoles: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, name: "deployer", pageSize: 1, orderBy: "name" }),
    answer: () => ({ roles: [{ name: "deployer" }], totalCount: "1", skipped: 0 }),
  },
  CreateRole: {
    request: ({ platform }) => ({ parent: platform, role: { name: "new", capabilities: ["CAP_REPO_LIST"] } }),
    answer: () => ({ name: "new", capabilities: ["CAP_REPO_LIST"] }),
  },
  UpdateRole: {
    request: async (fixture) => {
      const uid = await make(fixture, "roles", fixture.platform, { name: "changing", capabilities: ["CAP_REPO_LIST"] });
      return { role: { uid, name: "ignored", capabilities: ["CAP_IAM_GROUPS_LIST"] }, updateMask: "capabilities" };
    },
    answer: () => ({ name: "changing", capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  },
  DeleteRole: {
    request: async (fixture) => ({
      uid: await make(fixture, "roles", fixture.platform, { name: "old", capabilities: ["CAP_REPO_LIST"] }),
    }),
    answer: () => ({}),
  },
  GetRoleBinding: {
    request: ({ binding: uid }) => ({ uid }),
    answer: ({ identity, eng, role }) => ({ identity: { uid: identity }, group: { uid: eng }, role: { uid: role } }),
  },
  ListRoleBindings: {
    request: ({ eng, identity, role }) => ({
      uidp: { childrenOf: eng },
      identity,
      group: eng,
      role,
      ...paging,
      skip: 0,
    }),
    answer: ({ binding: uid }) => ({ roleBindings: [{ uid }], totalCount: "1" }),
  },
  CreateRoleBinding: {
    request: (fixture) => ({ parent: fixture.platform, roleBinding: binding(fixture) }),
    answer: hydrated,
  },
  BatchCreateRoleBindings: {
    request: ({ platform, identity, viewer }) => ({
      parent: platform,
      roleUid: viewer,
      requests: [{ parent: platform, roleBinding: { identityUid: identity } }],
    }),
    answer: (fixture) => ({ roleBindings: [hydrated(fixture)] }),
  },
  UpdateRoleBinding: {
    request: async (fixture) => {
      const uid = await make(fixture, "roleBindings", fixture.platform, binding(fixture));
      return { roleBinding: { uid, roleUid: fixture.role }, updateMask: "roleUid" };
    },
    answer: ({ identity, role }) => ({ identity: { uid: identity }, role: { uid: role } }),
  },
  DeleteRoleBinding: {
    request: async (fixture) => ({ uid: await make(fixture, "roleBindings", fixture.platform, binding(fixture)) }),
    answer: () => ({}),
  },
  GetRepo: { request: ({ repo }) => ({ uid: repo }), answer: () => ({ name: "nginx" }) },
  ListRepos: {
    request: ({ eng }) => ({ uidp: { childrenOf: eng }, ...byName }),
    answer: () => ({ repos: [{ name: "nginx" }], totalCount: "3", skipped: 1 }),
  },
  ListGroupsV1: {
    request: ({ organization, eng }) => ({ id: eng, name: "eng", uidp: { childrenOf: organization } }),
    answer: ({ eng }) => ({ items: [{ id: eng, name: "eng" }] }),
  },
  ListReposV1: {
    request: ({ eng, repo }) => ({ id: repo, name: "nginx", uidp: { childrenOf: eng } }),
    answer: ({ repo }) => ({ items: [{ id: repo, name: "nginx" }] }),
  },
  ListIdentitiesV1: {
    request: ({ eng, identity }) => ({ id: identity, uidp: { childrenOf: eng } }),
    answer: ({ identity }) => ({
      items: [
        {
          id: identity,
          name: "ci",
          description: "",
          claimMatch: { issuer: "https://issuer.example", subject: "ci" },
          createdAt: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
  },
  LookupIdentityV1: {
    request: () => ({ issuer: "https://issuer.example", subject: "ci" }),
    answer: ({ identity }) => ({ id: identity, name: "ci" }),
  },
  ListRolesV1: {
    request: ({ eng, role }) => ({ id: role, name: "deployer", parent: eng, uidp: { childrenOf: eng } }),
    answer: ({ role }) => ({ items: [{ id: role, name: "deployer", capabilities: ["groups.list"] }] }),
  },
  ListRoleBindingsV1: {
    request: ({ eng, binding: id }) => ({ id, uidp: { childrenOf: eng } }),
    answer: ({ eng, role, identity, binding: id }) => ({
      items: [
        {
          id,
          group: { id: eng, name: "eng" },
          role: { id: role, name: "deployer", capabilities: ["groups.list"] },
          identity,
          claimMatchIssuer: "https://issuer.example",
          claimMatchSubject: "ci",
          createdAt: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
  },
  ListGroupInvitesV1: {
    request: async ({ api, eng, invite }) => {
      const { keyId } = await api.ok("GET", `${IAM}/groupInvites/${invite}`);
      return { group: eng, id: invite, keyId };
    },
    answer: ({ invite, viewer }, { keyId }) => ({
      items: [
        {
          id: invite,
          keyId,
          role: { id: viewer, name: "viewer" },
          expiration: "2026-01-28T12:55:21.189Z",
          createdAt: "2026-01-28T12:54:21.189Z",
        },
      ],
    }),
    volatile: ["keyId"],
  },
  ListAccountAssociationsV1: {
    request: ({ eng }) => ({ group: eng, name: "cloud" }),
    answer: ({ eng }) => ({ items: [{ group: eng, name: "cloud", amazon: { account: "123456789012" } }] }),
  },
  Exchange: {
    request: ({ api }) => ({
      aud: [api.baseUrl],
      identity: api.identity,
      cap: ["groups.list"],
      scopes: [api.organization],
    }),
    answer: () => ({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expiry: "2026-01-28T13:54:21.000Z" }),
    volatile: ["token", "refreshToken"],
  },
  ExchangeGet: {
    request: ({ api }) => ({ aud: [api.baseUrl], identity: api.identity, identityProvider: "" }),
    answer: () => ({ token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expiry: "2026-01-28T13:54:21.000Z" }),
    volatile: ["token", "refreshToken"],
  },
};

/** The bearer token that an operation is called with; null for none. */
export const bearerOf = (operation: OperationName, fixture: Fixture): Promise<string> | string | null => {
  const { bearer } = operationCases[operation];
  if (bearer) return bearer(fixture);
  const { auth } = operations[operation] as Operation;
  return auth === "workload" ? fixture.api.identityToken("owner") : fixture.api.owner.token;
};
