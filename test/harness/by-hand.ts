// An organization that people made by hand, over the API: every kind, odd names, equal names, and texts that are code somewhere.
import type { Body } from "../support/http.ts";
import { IAM, type TestServer } from "./api-server.ts";
import { type Collection, createRecord } from "./records.ts";

/** A text that must stay a text in every language. */
export const ODD = `it's "odd" \\ \`x\` \${y} #{z} {{w}} %s */ // \u2028 \u202e é 😀`;

const GITHUB = "https://token.actions.githubusercontent.com";
const KEYS = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "1", x: "a".repeat(43) }] });

export type ByHand = Awaited<ReturnType<typeof createByHand>>;

/** Returns the uids of some of its records. */
export const createByHand = async (api: Pick<TestServer, "call">, organization: string) => {
  const make = async (collection: Collection, parent: string, fields: Body = {}): Promise<string> =>
    (await createRecord(api, collection, parent, fields)).uid as string;
  const { json } = await api.call("GET", `${IAM}/roles?uidp.inRoot=true`);
  const builtIn = new Map((json.roles as { uid: string; name: string }[]).map(({ uid, name }) => [name, uid]));
  const [viewer, editor] = [builtIn.get("viewer") as string, builtIn.get("editor") as string];

  const platform = await make("groups", organization, { name: "platform", description: ODD });
  const product = await make("groups", organization, { name: "constructor" });
  const registry = await make("groups", platform, { name: "registry" });
  const other = await make("groups", product, { name: "registry" });
  // Only the uid tells these apart.
  for (const name of ["007", "...", "a - b", "a-b"]) await make("groups", other, { name });

  const publisher = await make("roles", platform, {
    name: "publisher",
    description: "Publishes",
    capabilities: ["CAP_TAG_CREATE", "CAP_REPO_LIST"],
  });
  const identity = (parent: string, name: string, relationship: Body) =>
    make("identities", parent, { name, ...relationship });
  const workload = (parent: string, name: string, issuer: string, further: Body) =>
    identity(parent, name, { claimMatch: { issuer, ...further } });
  const release = await workload(platform, "release", GITHUB, { subject: "repo:acme/images:ref:refs/heads/main" });
  const review = await workload(product, "release", GITHUB, { subjectPattern: "repo:acme/[^/:]*:pull_request" });
  const claims = { [ODD]: ODD, "b-c": "1" };
  const odd = await workload(registry, "class", "https://issuer.example", { subject: ODD, audience: "a", claims });
  const serviceAccount = { subject: "system:serviceaccount:prod:deployer" };
  const pods = await workload(other, "prod", "https://oidc.example", serviceAccount);
  const keys = await identity(organization, "keys", {
    description: "Signs by itself",
    staticKeys: { issuer: "https://keys.example", subject: "k", issuerKeys: KEYS },
  });
  const cloud = await identity(organization, "cloud", {
    awsIdentity: {
      awsAccount: "123456789012",
      arnPattern: "arn:aws:sts::123456789012:assumed-role/deployer/[^/:]+",
      userIdPattern: "AROA[A-Z0-9]+:[^/:]+",
    },
  });

  const bind = (group: string, identityUid: string, roleUid: string) =>
    make("roleBindings", group, { identityUid, roleUid });
  await bind(registry, release, publisher);
  await bind(organization, review, viewer);
  await bind(other, odd, editor);
  await bind(other, pods, viewer);
  await bind(platform, keys, viewer);
  await bind(platform, cloud, viewer);
  const twin = await bind(platform, cloud, viewer);

  const people = (name: string, oidc: Body) =>
    make("identityProviders", organization, {
      name,
      defaultRole: viewer,
      oidc: { issuer: "https://login.example", clientId: "console", groupsClaim: "groups", ...oidc },
    });
  const sso = await people("sso", { pkceEnabled: true, additionalScopes: ["profile", "email"] });
  const withSecret = await people("sso with secret", { clientSecret: "kept by the service" });
  const map = (provider: string, externalGroupId: string, roleUid: string) =>
    make("externalGroupRoleMappings", provider, { externalGroupId, roleUid, scope: organization });
  await map(sso, "Platform-SRE", editor);
  await map(sso, ODD, viewer);
  await map(withSecret, "Everyone", viewer);

  await make("groupInvites", platform, { roleUid: viewer, ttl: "604800s", email: "ann@acme.example" });
  await make("groupInvites", platform, { roleUid: publisher, ttl: "3600s", singleUse: true });
  await make("accountAssociations", platform, {
    name: "accounts",
    amazon: { account: "123456789012" },
    chainguard: { serviceBindings: { SYNCER: release } },
    github: { appInstallations: { "12345": { installations: [{ installationId: "67890", name: "acme" }] } } },
  });
  const nginx = await make("repos", registry, {
    name: "Nginx_1",
    bundles: ["base", "application"],
    aliases: ["web:latest"],
    customOverlay: { contents: { packages: ["curl", "bash"] }, environment: { TZ: ODD } },
  });
  await make("repos", other, { name: "mirror", sync_config: { source: nginx } });
  const digest = `sha256:${"a".repeat(64)}`;
  for (const name of ["latest", "1.2-r3", "sha256-abc", "latest-20260101"]) await make("tags", nginx, { name, digest });
  // The provider has a client secret; the twin is the second of two bindings that grant the same.
  return { platform, registry, release, publisher, withSecret, twin };
};
