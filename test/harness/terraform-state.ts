// What the published Terraform provider wrote into a state (0.4.1, Terraform 1.11.4), and the records that it is about, over the API.
import { readFileSync } from "node:fs";
import type { Body } from "../support/http.ts";
import type { TestServer } from "./api-server.ts";
import { type Collection, createUid } from "./records.ts";

/** The client secret and the code of an invite that the recorded states have. */
export const SECRETS = [
  "hunter2-of-the-provider",
  "cginvite_595d5cd5f18bfcd2f8849e1df79d0f733017f1583e5cf46cf670954df31f3965",
];

const recorded = (name: "pulled" | "shown"): string =>
  readFileSync(new URL(`../access/export/terraform/fixtures/${name}.json`, import.meta.url), "utf8");

const AWS = {
  awsAccount: "123456789012",
  arnPattern: "arn:aws:sts::123456789012:assumed-role/deployer/[^/:]+",
  userIdPattern: "AROA[A-Z0-9]+:[^/:]+",
};
const KEYS = `{"keys":[{"crv":"Ed25519","kid":"1","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`;
const GITHUB = "https://token.actions.githubusercontent.com";

/** Creates the records of the recorded states, whose uids it replaces in what `terraform` prints of them. */
export const createManaged = async (
  api: Pick<TestServer, "call">,
  { organization, viewer, nowMs }: { organization: string; viewer: string; nowMs: number },
) => {
  const uids = new Map<string, string>();
  const make = async (address: string, collection: Collection, parent: string, fields: Body): Promise<string> => {
    const uid = await createUid(api, collection, parent, fields);
    uids.set(address, uid);
    return uid;
  };
  const platform = await make("chainguard_group.platform", "groups", organization, {
    name: "platform",
    description: "Builds what others stand on",
  });
  await make(String.raw`chainguard_group.team["it's \"odd\""]`, "groups", platform, { name: "team 10" });
  const registry = await make('chainguard_group.team["registry"]', "groups", platform, { name: "team 8" });
  const publisher = await make("chainguard_role.publisher", "roles", platform, {
    name: "publisher",
    capabilities: ["CAP_TAG_CREATE", "CAP_REPO_LIST"],
  });
  const identity = (address: string, parent: string, fields: Body) => make(address, "identities", parent, fields);
  const clouds = [0, 1].map((i) =>
    identity(`chainguard_identity.cloud[${i}]`, organization, {
      name: `cloud ${i}`,
      description: "in the cloud",
      awsIdentity: AWS,
    }),
  );
  const release = await identity('module.workflow["release"].chainguard_identity.this', platform, {
    name: "release",
    claimMatch: { issuer: GITHUB, subject: "repo:acme/images:ref:refs/heads/main" },
  });
  await identity('module.workflow["review"].chainguard_identity.this', platform, {
    name: "review",
    claimMatch: {
      issuer: GITHUB,
      subjectPattern: "repo:acme/[^/:]*:pull_request",
      claims: { job_workflow_ref: "x" },
    },
  });
  const expirationTime = new Date(nowMs + 20 * 86_400_000).toISOString().replace(/\.\d+Z$/, "Z");
  await identity("chainguard_identity.keys", platform, {
    name: "keys",
    staticKeys: { issuer: "https://keys.example", subject: "k", issuerKeys: KEYS, expirationTime },
  });
  const service = await identity("chainguard_identity.service", platform, {
    name: "catalog",
    servicePrincipal: "SERVICE_PRINCIPAL_CATALOG_SYNCER",
  });
  const bind = (address: string, group: string, identityUid: string, roleUid: string) =>
    make(address, "roleBindings", group, { identityUid, roleUid });
  await bind("chainguard_rolebinding.release", registry, release, publisher);
  for (const [i, cloud] of clouds.entries())
    await bind(`chainguard_rolebinding.cloud[${i}]`, platform, await cloud, viewer);
  await make("chainguard_identity_provider.sso", "identityProviders", organization, {
    name: "sso",
    defaultRole: viewer,
    oidc: {
      issuer: "https://login.example",
      clientId: "console",
      clientSecret: "hunter2-of-the-provider",
      additionalScopes: ["profile", "email"],
    },
  });
  await make("chainguard_group_invite.ann", "groupInvites", platform, {
    roleUid: viewer,
    ttl: "172799s",
    email: "ann@acme.example",
  });
  await make("chainguard_account_associations.accounts", "accountAssociations", platform, {
    name: "accounts",
    amazon: { account: "123456789012" },
    google: { projectId: "acme-production", projectNumber: "42" },
    azure: { tenantId: "0b0b0b0b-0000-0000-0000-000000000000", clientIds: { controller: "c" } },
    chainguard: { serviceBindings: { CATALOG_SYNCER: service } },
    github: {
      appInstallations: {
        "12345": { installations: [{ installationId: "67890", name: "acme" }, { installationId: "67891" }] },
      },
    },
  });

  const shown = recorded("shown");
  const former = formerUids(shown);
  const replaced = [...uids].map(([address, uid]): [string, string] => [former.get(address) as string, uid]);
  const all: [string, string][] = [
    ...replaced.sort(([a], [b]) => b.length - a.length),
    [former.get("data.chainguard_group.organization") as string, organization],
    [formerViewer(shown), viewer],
    ["2026-12-20T10:00:00Z", expirationTime],
  ];
  const withUids = (text: string): string => all.reduce((own, [old, uid]) => own.replaceAll(old, uid), text);
  return { uids, pulled: withUids(recorded("pulled")), shown: withUids(shown) };
};

interface Module {
  resources?: { address: string; values: { id: string; items: { id: string }[] } }[];
  child_modules?: Module[];
}

const resourcesOf = ({ resources = [], child_modules: children = [] }: Module): NonNullable<Module["resources"]> => [
  ...resources,
  ...children.flatMap(resourcesOf),
];

const formerUids = (shown: string): Map<string, string> =>
  new Map(resourcesOf(JSON.parse(shown).values.root_module).map(({ address, values }) => [address, values.id]));

const formerViewer = (shown: string): string => {
  const all = resourcesOf(JSON.parse(shown).values.root_module);
  return all.find(({ address }) => address === "data.chainguard_role.viewer")?.values.items[0]?.id as string;
};
