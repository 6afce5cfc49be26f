// For each served method, a request that uses every field of its message, and the expected effect on the response. A
// misread spelling would be an unknown field, silently ignored, and the response would differ.
import { readdirSync } from "node:fs";
import { expect } from "vitest";
import { type Operation, type OperationName, operations } from "../../schema/index.ts";
import { parseSeed, type ServerOptions } from "../../server/index.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import type { Fixture, OperationCase } from "./fixture.ts";

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
externalGroupRoleMappings: [{ identityProvider: eng/sso, externalGroupId: platform-sre, role: viewer }]
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

export const startFixture = async (options: Pick<ServerOptions, "store" | "onWrite"> = {}): Promise<Fixture> => {
  const api = await serve({ seed, refreshTokens: true, ...options });
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
    mapping: await only(`${IAM}/externalGroupRoleMappings`, "externalGroupRoleMappings", {}),
    invite: await createUid(api, "groupInvites", eng, { roleUid: viewer, ttl: "60s" }),
    advisory: await only("/vulnerabilities/v2beta1/advisories", "advisories", {}),
    viewer,
    librarian: await only(`${IAM}/identities`, "identities", { name: "librarian" }),
  };
};

// Every file of case/ has those of one resource. parity.test.ts compares their names with all methods.
const files = readdirSync(new URL("case/", import.meta.url)).map((file) => file.replace(/\.ts$/, ""));
const held = await Promise.all(files.map(async (file) => (await import(`./case/${file}.ts`)).cases as object));

export const operationCases = Object.assign({}, ...held) as Record<OperationName, OperationCase>;

/** The bearer token that an operation is called with; null for none. */
export const bearerOf = (operation: OperationName, fixture: Fixture): Promise<string> | string | null => {
  const { bearer } = operationCases[operation];
  if (bearer) return bearer(fixture);
  const { auth } = operations[operation] as Operation;
  return auth === "workload" ? fixture.api.identityToken("owner") : fixture.api.owner.token;
};
