// A case of each kind for the contract tests. A new kind is added here.
import type { KindName } from "../../../provider/kind/index.ts";
import type { Json } from "../../../schema/index.ts";

/** What the records of the cases stand in and refer to. */
export interface Place {
  organization: string;
  group: string;
  /** a repo with images, not of a case */
  repo: string;
  /** an identity provider, not of a case */
  provider: string;
  identity: string;
}

export interface KindCase {
  kind: KindName;
  /** arguments whose change creates a new record, in order of the alphabet */
  replacing: readonly string[];
  inputs(place: Place): Json;
  /** arguments that change, the request that it takes, and its mask; without one, a new record is made instead */
  change: Json;
  update?: { mask: string; body?: Json } | { upsert: true };
  /** fields of the API that somebody else changes, and the mask that repairs them */
  byHand?: { fields: Json; repairedBy: string };
  /** arguments that say the same as `inputs` */
  restated?: Json;
  /** two records of these arguments may be in one place */
  isRepeatable: boolean;
  /** secrets that must be in no journal, line or error */
  secrets: readonly string[];
}

export const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;

const CLIENT_SECRET = "correct horse battery staple";

const oidc = {
  issuer: "https://login.example.com",
  clientId: "access",
  clientSecret: CLIENT_SECRET,
  additionalScopes: ["email", "profile"],
};

export const ISSUER_KEYS: string = JSON.stringify({
  keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: "a" }],
});

const claimMatch = { issuer: "https://token.example.com", subject: "repo:a/b" };
const other = { ...claimMatch, subject: "repo:a/c" };
const runtimeRepositories = ["https://b.example.com", "https://a.example.com"];
const anotherName = { name: "by hand", description: "by hand" };
const byHand = { fields: anotherName, repairedBy: "description,name" };
const byPattern = { issuerPattern: "https://.*", subjectPattern: "c.*", claimPatterns: { ref: "main" } };
const plain = { isRepeatable: true, secrets: [] };
const single = { isRepeatable: false, secrets: [] };

export const cases: readonly KindCase[] = [
  {
    ...plain,
    kind: "group",
    replacing: ["parent", "root"],
    inputs: ({ group }) => ({ parent: group, name: "eng" }),
    change: { name: "ops" },
    update: { mask: "name" },
    byHand,
    restated: { description: "", verified: false },
  },
  {
    ...plain,
    kind: "identity",
    replacing: ["parent", "servicePrincipal", "staticKeys"],
    inputs: ({ group }) => ({ parent: group, name: "ci", claimMatch }),
    change: { claimMatch: other },
    update: { mask: "claimMatch.subject", body: { claimMatch: other } },
    byHand: {
      fields: { ...anotherName, company: "by hand", claimMatch: byPattern },
      repairedBy:
        "claimMatch.claimPatterns,claimMatch.issuer,claimMatch.issuerPattern,claimMatch.subject," +
        "claimMatch.subjectPattern,company,description,name",
    },
    restated: { claimMatch: { ...claimMatch, claims: {} } },
  },
  {
    ...plain,
    kind: "identity",
    replacing: ["parent", "servicePrincipal", "staticKeys"],
    inputs: ({ group }) => ({
      parent: group,
      name: "keys",
      staticKeys: { issuer: "https://a.example.com", subject: "s", issuerKeys: ISSUER_KEYS },
    }),
    change: { name: "other keys" },
    update: { mask: "name" },
    byHand,
  },
  {
    ...plain,
    kind: "role",
    replacing: ["parent"],
    inputs: ({ group }) => ({ parent: group, name: "r", capabilities: ["groups.list", "roles.list"] }),
    change: { capabilities: ["roles.list"] },
    update: { mask: "capabilities" },
    byHand: {
      fields: { ...anotherName, capabilities: ["CAP_IAM_GROUPS_LIST"] },
      repairedBy: "capabilities,description,name",
    },
    restated: { capabilities: ["CAP_IAM_ROLES_LIST", "groups.list", "groups.list"] },
  },
  {
    ...plain,
    kind: "roleBinding",
    replacing: ["parent"],
    inputs: ({ group, identity }) => ({ parent: group, identity, role: "viewer" }),
    change: { role: "editor" },
    update: { mask: "roleUid" },
  },
  {
    kind: "groupInvite",
    replacing: ["email", "parent", "role", "singleUse", "ttl"],
    inputs: ({ group }) => ({ parent: group, role: "viewer", ttl: "3600s", email: "new@example.com" }),
    change: { ttl: "7200s" },
    restated: { ttl: "3600.0s", singleUse: false },
    isRepeatable: true,
    secrets: ["cginvite_"],
  },
  {
    kind: "identityProvider",
    replacing: ["parent"],
    inputs: ({ group }) => ({ parent: group, name: "login", defaultRole: "viewer", oidc }),
    change: { oidc: { ...oidc, clientSecret: "another secret of the client" } },
    update: { mask: "oidc.clientSecret" },
    byHand,
    restated: {
      oidc: {
        ...oidc,
        additionalScopes: ["profile", "email", "email"],
        groupsClaim: "",
        pkceEnabled: false,
        correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
      },
    },
    isRepeatable: true,
    secrets: [CLIENT_SECRET, "another secret of the client"],
  },
  {
    ...single,
    kind: "externalGroupRoleMapping",
    replacing: ["externalGroupId", "parent", "role", "scope"],
    inputs: ({ organization, provider }) => ({
      parent: provider,
      externalGroupId: "CN=SRE,OU=Platform",
      role: "viewer",
      scope: organization,
    }),
    change: { role: "editor" },
  },
  {
    ...single,
    kind: "accountAssociation",
    replacing: ["parent"],
    inputs: ({ group }) => ({
      parent: group,
      name: "clouds",
      amazon: { account: "123456789012" },
      github: { appInstallations: { "7": { installations: [{ installationId: "2" }, { installationId: "1" }] } } },
    }),
    change: { amazon: { account: "210987654321" } },
    update: { mask: "amazon.account", body: { amazon: { account: "210987654321" } } },
    byHand: { fields: { amazon: { account: "111111111111" } }, repairedBy: "amazon.account" },
    restated: {
      description: "",
      github: {
        appInstallations: { "7": { installations: [{ installationId: "1", name: "" }, { installationId: "2" }] } },
      },
    },
  },
  {
    ...single,
    kind: "repo",
    replacing: ["parent"],
    inputs: ({ group }) => ({
      parent: group,
      name: "nginx",
      aliases: ["web:latest", "edge:latest"],
      activeTags: ["latest", "1"],
      customOverlay: {
        contents: { packages: ["curl", "bash"], runtimeRepositories },
        accounts: { users: [{ username: "app", uid: 1000 }, { username: "admin" }] },
      },
    }),
    change: { aliases: ["web:latest"], catalogTier: "CATALOG_TIER_BASE" },
    update: { mask: "aliases,catalogTier", body: { aliases: ["web:latest"], catalogTier: "CATALOG_TIER_BASE" } },
    byHand: { fields: { activeTags: ["latest"] }, repairedBy: "activeTags" },
    restated: {
      aliases: ["edge:latest", "web:latest", "edge:latest"],
      activeTags: ["1", "latest"],
      bundles: [],
      customOverlay: {
        contents: { packages: ["bash", "curl"], runtimeRepositories },
        accounts: {
          users: [
            { username: "admin", uid: 0 },
            { username: "app", uid: 1000 },
          ],
        },
      },
    },
  },
  {
    ...single,
    kind: "tag",
    replacing: ["name", "parent"],
    inputs: ({ repo }) => ({ parent: repo, name: "1.2.3-r0", digest: digest("a"), bundles: ["fips", "base"] }),
    change: { digest: digest("b") },
    update: { upsert: true },
    byHand: { fields: { digest: digest("c"), bundles: ["fips", "base"] }, repairedBy: "" },
    restated: { bundles: ["base", "fips"], deprecated: false },
  },
];
