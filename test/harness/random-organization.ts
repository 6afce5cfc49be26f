// A random organization over the API: every kind, odd and equal names, patterns, roles of every level, records that were changed since, and
// workloads that were seen.
import type { Body } from "../support/http.ts";
import type { Random } from "../support/random.ts";
import { IAM, REGISTRY, type TestServer } from "./api-server.ts";
import { createRecord } from "./records.ts";

const NAMES = ["a", "a.b", "a b", "007", "constructor", "1e3", "null", "-", "..."];
const TEXTS = ["", "x", "it's: {odd} #1 & *all* !", '"\\', "é 😀 \u2028 \u202e", " lead and trail "];
const CAPABILITIES = ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST", "CAP_TAG_CREATE", "CAP_IAM_ROLE_BINDINGS_LIST"];
const DIGEST = `sha256:${"a".repeat(64)}`;

export const createRandomOrganization = async (api: TestServer, random: Random): Promise<void> => {
  const tick = () => api.clock.advance(random.below(1_000));
  const make = async (...request: Parameters<typeof createRecord> extends [unknown, ...infer R] ? R : never) => {
    tick();
    return (await createRecord(api, ...request)).uid as string;
  };
  const maybe = (fields: Body): Body => (random.below(2) === 0 ? fields : {});
  const name = () => random.pick(NAMES);
  const described = () => maybe({ description: random.pick(TEXTS) });
  const some = (below: number, work: (i: number) => Promise<unknown>) =>
    Array.from({ length: random.below(below) }).reduce<Promise<unknown>>(
      (before, _, i) => before.then(() => work(i)),
      Promise.resolve(),
    );

  const groups = [api.organization];
  await some(8, async () => groups.push(await make("groups", random.pick(groups), { name: name(), ...described() })));
  const place = () => random.pick(groups);
  const roles: { uid: string; at: string }[] = await Promise.all(
    ["viewer", "editor", "owner"].map(async (one) => ({ uid: await api.role(one), at: api.organization })),
  );
  await some(4, async () => {
    const at = place();
    const capabilities = random.shuffle(CAPABILITIES).slice(random.below(CAPABILITIES.length - 1));
    roles.push({ uid: await make("roles", at, { name: name(), capabilities, ...described() }), at });
  });
  /** One that may be granted there. */
  const roleAt = (group: string) =>
    random.pick(roles.filter(({ at }) => group === at || group.startsWith(`${at}/`))).uid;

  const identities: string[] = [];
  const relationships: (() => Body)[] = [
    () => ({
      claimMatch: { issuer: "https://issuer.example", subject: random.pick(["s", "t"]), ...maybe({ audience: "a" }) },
    }),
    () => ({
      claimMatch: { issuerPattern: "https://i\\.example", subjectPattern: "repo:[^:]*", claims: { __proto__x: "1" } },
    }),
    () => ({ claimMatch: { issuer: api.issuer, subject: "dev", claimPatterns: { "a.b": ".*", toString: "x" } } }),
    () => ({
      awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userIdPattern: ".*" },
    }),
    () => ({ servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" }),
    () => ({ staticKeys: { issuer: "https://k.example", subject: "k", issuerKeys: '{"keys":[{"kty":"OKP"}]}' } }),
  ];
  await some(10, async () => {
    const fields = { name: name(), ...described(), ...maybe({ company: "Acme" }), ...random.pick(relationships)() };
    identities.push(await make("identities", place(), fields));
  });
  if (random.below(2) === 0) identities.push((await api.actor("seen")).uid);
  if (identities.length > 0)
    await some(12, () => {
      const group = place();
      return make("roleBindings", group, { identityUid: random.pick(identities), roleUid: roleAt(group) });
    });

  await some(3, async () => {
    const group = place();
    const oidc = {
      issuer: "https://login.example",
      clientId: "c",
      ...random.pick<Body>([{ pkceEnabled: true }, { clientSecret: "hush" }]),
      ...maybe({ additionalScopes: ["email", "profile"], groupsClaim: "groups" }),
    };
    const provider = await make("identityProviders", group, {
      name: name(),
      defaultRole: roleAt(group),
      oidc,
      ...described(),
    });
    await some(3, (i) =>
      make("externalGroupRoleMappings", provider, {
        externalGroupId: `${random.pick(TEXTS)}${i}`,
        roleUid: roleAt(api.organization),
        scope: api.organization,
      }),
    );
  });
  await some(3, () => {
    const group = place();
    const ttl = `${1 + random.below(5_000)}s`;
    return make("groupInvites", group, {
      roleUid: roleAt(group),
      ttl,
      ...maybe({ email: "a@b.example", singleUse: true }),
    });
  });
  for (const group of groups)
    if (random.below(4) === 0)
      await make("accountAssociations", group, {
        name: name(),
        ...described(),
        ...maybe({ amazon: { account: "123456789012" } }),
        ...maybe({ github: { appInstallations: { 7: { installations: [{ installationId: "12" }] } } } }),
        ...(identities[0] && maybe({ chainguard: { serviceBindings: { S: identities[0] } } })),
      });
  const repos: string[] = [];
  await some(6, async (i) => {
    const own = random.pick<Body>([{ bundles: ["base"] }, { activeTags: ["latest"], aliases: ["x:y"] }, {}]);
    const synced = repos.length > 0 && random.below(3) === 0 && { sync_config: { source: random.pick(repos) } };
    repos.push(await make("repos", place(), { name: `Repo_${i}`, ...described(), ...(synced || own) }));
  });
  for (const repo of repos)
    await some(4, (i) =>
      make("tags", repo, { name: random.pick(["latest", "1.2-r3", "sha256-a", "x-20260101"]) + i, digest: DIGEST }),
    );

  // Some are changed later: a source that others sync from too.
  const change = async (path: string) => {
    tick();
    await api.ok("PATCH", path, { body: { description: random.pick(TEXTS) } });
  };
  for (const uid of groups) if (random.below(3) === 0) await change(`${IAM}/groups/${uid}`);
  for (const uid of repos) if (random.below(3) === 0) await change(`${REGISTRY}/repos/${uid}`);
};
