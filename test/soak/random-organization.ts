// A random organization, as people make one over the API: every kind, odd and equal names, records that were changed since.
import { presets } from "../../access/preset/presets.ts";
import { capabilityFrom, OWNER_CAPABILITIES } from "../../schema/index.ts";
import { IAM, REGISTRY, shuffledIds, startServer } from "../harness/api-server.ts";
import { type Collection, postRecord } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import type { Random } from "../support/random.ts";
import { anyPattern, subject, subjectPattern } from "./random-pattern.ts";
import { REPO_NAMES, randomMap, randomName, randomText, randomWord } from "./random-text.ts";

type Api = Parameters<typeof postRecord>[0];

interface Place {
  organization: string;
  /** identities that may have roles besides */
  others?: readonly string[];
  nowMs: number;
  /** called before each request that writes */
  tick?(): void;
}

/** A server with such an organization, and an identity in it that may have roles. */
export const startGrown = async (random: Random, seed: number) => {
  const original = await startServer({ ids: shuffledIds(seed) });
  const { organization, clock } = original;
  const others = [(await original.actor("seen")).uid];
  const tick = () => clock.advance(random.below(1_000));
  const place: Place = { organization, others, nowMs: clock.today(), tick };
  await growOrganization(random, original, place);
  return { original, place };
};

/** The owner of an organization has them. */
const GRANTABLE = OWNER_CAPABILITIES.map((name) => capabilityFrom(name) as string);

const DIGESTS = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`);
const BUNDLES = ["application", "base", "byol", "ai", "fips"];
const TIERS = ["APPLICATION", "BASE", "FIPS"].map((tier) => `CATALOG_TIER_${tier}`);
const TAGS = ["latest", "1", "1.0", "1.2-r3", "sha256-abc", "latest-20260101", "_", "null"];

/** Creates the records. What the API refuses, such as a pattern that is too large, is left out. */
export const growOrganization = async (random: Random, api: Api, place: Place): Promise<void> => {
  const { organization, others = [], nowMs, tick = () => undefined } = place;
  const { json: answer } = await api.call("GET", `${IAM}/roles?uidp.inRoot=true&pageSize=200`);
  const builtIn = (answer.roles as { uid: string }[]).map(({ uid }) => uid);
  const chance = (percent: number): boolean => random.below(100) < percent;
  const maybe = (percent: number, fields: Body): Body => (chance(percent) ? fields : {});
  const some = <T>(items: readonly T[], most = items.length): T[] =>
    random.shuffle(items).slice(0, random.below(most + 1));
  const name = (): string => randomName(random);
  const text = (): string => randomText(random);
  const word = (): string => randomWord(random);
  const described = (): Body => maybe(50, { description: text() });
  const times = async (most: number, work: () => Promise<unknown>): Promise<void> => {
    for (let left = random.below(most + 1); left > 0; left -= 1) await work();
  };
  /** Adds the uid to `own`, unless the API refuses the record. */
  const make = async (own: string[], collection: Collection, parent: string, fields: Body): Promise<void> => {
    tick();
    const { status, json, text: why } = await postRecord(api, collection, parent, fields);
    if (status === 200) own.push(json.uid as string);
    else if (status !== 400 && status !== 409) throw new Error(`${collection}: ${status} ${why}`);
  };
  const change = async (path: string, updateMask: string, body: Body): Promise<void> => {
    tick();
    const { status, text: why } = await api.call("PATCH", `${path}?updateMask=${updateMask}`, { body });
    if (status !== 200) throw new Error(`${path}: ${status} ${why}`);
  };

  const groups = [organization];
  const roles: string[] = [];
  const identities: string[] = [];
  const providers: string[] = [];
  const repos: string[] = [];
  const group = (): string => random.pick(groups);
  const role = (): string => random.pick([...builtIn, ...roles]);

  if (chance(30)) await change(`${IAM}/groups/${organization}`, "kind", { kind: "ORG_KIND_CUSTOMER" });
  if (chance(50))
    await change(`${IAM}/groups/${organization}`, "name,description", { name: name(), description: text() });
  await times(8, () => make(groups, "groups", group(), { name: name(), ...described() }));
  await times(4, () => {
    const capabilities = [...some(GRANTABLE, 5), "CAP_IAM_GROUPS_LIST"];
    return make(roles, "roles", group(), { name: name(), ...described(), capabilities });
  });
  await times(8, () => {
    const fields = { name: name(), ...described(), ...maybe(20, { company: text().slice(0, 255) }) };
    return make(identities, "identities", group(), { ...fields, ...randomRelationship(random, nowMs) });
  });
  const bound = [...identities, ...others];
  if (bound.length > 0)
    await times(10, async () => {
      const [at, fields] = [group(), { identityUid: random.pick(bound), roleUid: role() }];
      await make([], "roleBindings", at, fields);
      if (chance(15)) await make([], "roleBindings", at, fields);
    });
  await times(2, () => {
    const oidc = {
      ...{ issuer: "https://login.example", clientId: text() },
      ...(chance(50) ? { pkceEnabled: true } : { clientSecret: "kept by the service" }),
      ...maybe(50, { groupsClaim: text(), additionalScopes: some(["profile", "email", text()]) }),
      ...maybe(20, { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" }),
    };
    const fields = { name: name(), ...described(), defaultRole: role(), oidc };
    return make(providers, "identityProviders", organization, fields);
  });
  if (providers.length > 0)
    await times(4, () => {
      const fields = { externalGroupId: text(), roleUid: role(), scope: organization };
      return make([], "externalGroupRoleMappings", random.pick(providers), fields);
    });
  await times(3, () =>
    make([], "groupInvites", group(), {
      ...{ roleUid: role(), ttl: random.pick(["604800s", "3600.5s", "0.001s"]) },
      ...maybe(50, { email: random.pick(["ann@acme.example", "o'hara+a@acme.example"]) }),
      ...maybe(30, { singleUse: true }),
    }),
  );
  await times(2, () =>
    make([], "accountAssociations", group(), {
      ...{ name: name(), ...described() },
      ...maybe(50, { amazon: { account: "123456789012" } }),
      ...maybe(40, { google: { projectId: text(), projectNumber: "42" } }),
      ...maybe(40, { azure: { tenantId: text(), clientIds: { [word()]: text() } } }),
      ...(identities.length > 0 &&
        maybe(50, { chainguard: { serviceBindings: { [word()]: random.pick(identities) } } })),
      ...maybe(40, {
        github: { appInstallations: { 12345: { installations: [{ installationId: "67890", name: text() }] } } },
      }),
    }),
  );
  const overlay = (): Body => ({
    contents: {
      ...{ packages: some(["curl", "bash"]), runtimeRepositories: ["b", "a"] },
      runtimeKeyring: [{ name: text(), content: text() }],
    },
    ...{ environment: randomMap(random, 3, text), annotations: randomMap(random, 2, text) },
    accounts: {
      ...{ runAs: text(), users: [{ username: text(), uid: 7 }] },
      groups: [{ groupname: text(), members: ["b", "a"] }],
    },
  });
  await times(4, () =>
    make(repos, "repos", group(), {
      ...{ name: random.pick(REPO_NAMES), ...described() },
      ...(repos.length > 0 && chance(30)
        ? { sync_config: { source: random.pick(repos), ...maybe(30, { google: text() }) } }
        : {
            ...maybe(50, { catalogTier: random.pick(TIERS), bundles: some(BUNDLES) }),
            ...maybe(30, { aliases: ["web:latest", "a/b:1"], activeTags: some(["latest", "1", "1.0"]) }),
          }),
      ...maybe(30, { customOverlay: overlay() }),
    }),
  );
  if (repos.length > 0)
    await times(5, () => {
      const fields = { name: random.pick(TAGS), digest: random.pick(DIGESTS) };
      const repo = random.pick(repos);
      return make([], "tags", repo, { ...fields, ...maybe(30, { deprecated: true, bundles: some(BUNDLES) }) });
    });
  for (const uid of repos)
    if (chance(20)) await change(`${REGISTRY}/repos/${uid}`, "description", { description: text() });
};

const KEYS = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "1", x: "a".repeat(43) }] });
const PRINCIPALS = ["COSIGNED", "INGESTER", "CATALOG_SYNCER"].map((name) => `SERVICE_PRINCIPAL_${name}`);
const ACCOUNT = "123456789012";
const DAY_MS = 86_400_000;

const randomRelationship = (random: Random, nowMs: number): Body => {
  const chance = (percent: number): boolean => random.below(100) < percent;
  const maybe = (percent: number, fields: Body): Body => (chance(percent) ? fields : {});
  const text = (): string => randomText(random, 255);
  const pattern = (): string => randomPattern(random);
  const claimMatch = (): Body => ({
    ...(chance(70)
      ? { issuer: random.pick(["https://issuer.example", "https://issuer.example/a/"]) }
      : { issuerPattern: pattern() }),
    ...(chance(60) ? { subject: chance(50) ? subject(random) : text() } : { subjectPattern: pattern() }),
    ...random.pick<Body>([{}, {}, { audience: text() }, { audiencePattern: pattern() }]),
    ...maybe(40, { claims: randomMap(random, 3, () => randomText(random)) }),
    ...maybe(30, { claimPatterns: randomMap(random, 3, pattern) }),
  });
  const staticKeys = (): Body => ({
    ...{ issuer: "https://keys.example", subject: text(), issuerKeys: KEYS },
    ...maybe(30, { audiences: [text()] }),
    ...maybe(40, { expirationTime: new Date(nowMs + (1 + random.below(300)) * DAY_MS).toISOString() }),
  });
  const awsIdentity = (): Body => ({
    awsAccount: ACCOUNT,
    ...(chance(50) ? { arn: text() } : { arnPattern: pattern() }),
    ...(chance(50) ? { userId: text() } : { userIdPattern: pattern() }),
  });
  const relationships: (() => Body)[] = [
    () => presetRelationship(random),
    () => presetRelationship(random),
    () => ({ claimMatch: claimMatch() }),
    () => ({ claimMatch: claimMatch() }),
    () => ({ staticKeys: staticKeys() }),
    () => ({ awsIdentity: awsIdentity() }),
    () => ({ servicePrincipal: random.pick(PRINCIPALS) }),
  ];
  return random.pick(relationships)();
};

const presetRelationship = (random: Random): Body => {
  const { github, gitlab, buildkite, kubernetes, google, aws } = presets;
  const [owner, branch] = [random.pick(["acme", "a-1"]), random.pick(["main", "release/1", "v*", "a:b", "é"])];
  const isWide = random.below(2) === 0;
  const relationships: (() => object)[] = [
    () => github.relationship({ repository: `${owner}/${isWide ? "*" : "images"}`, branch }),
    () => github.relationship({ repository: `${owner}/images`, environment: branch }),
    () => github.relationship({ repository: `${owner}/*`, event: isWide ? "push" : "pull_request" }),
    () => gitlab.relationship({ project: `${owner}/shop`, tag: branch, ...(isWide && { protected: true }) }),
    () => buildkite.relationship({ organization: owner, pipeline: "images", branch }),
    () => kubernetes.relationship({ issuer: "https://oidc.example", namespace: "prod", serviceAccount: owner }),
    () => google.relationship({ uniqueId: "107517467455664443765" }),
    () => aws.relationship({ account: ACCOUNT, role: "deployer", ...(isWide && { session: "a*" }) }),
  ];
  return random.pick(relationships)() as Body;
};

/** Not each is a pattern. */
const randomPattern = (random: Random): string =>
  (random.below(2) === 0 ? subjectPattern(random) : anyPattern(random)) || randomPattern(random);
