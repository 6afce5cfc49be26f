// A random organization, as people make one by hand over the API: every kind, odd names, equal names, patterns, and texts that are code
// somewhere.
import { presets } from "../../../access/preset/presets.ts";
import { BUILT_IN_ROLE_CAPABILITIES, capabilityFrom, patternMatcher } from "../../../schema/index.ts";
import { IAM } from "../../harness/api-server.ts";
import { type Collection, postRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import type { Random } from "../../support/random.ts";
import { anyPattern, subject, subjectPattern } from "../random-pattern.ts";

type Api = Parameters<typeof postRecord>[0];

export interface Place {
  organization: string;
  /** an identity of another organization, which may have roles here */
  outsider?: string | undefined;
  nowMs: number;
}

/** What JavaScript, YAML or Python reads as something else, and names that are equal as variables. */
const NAMES = [
  ...["constructor", "__proto__", "tostring", "hasownproperty", "prototype", "then", "name", "id", "urn", "uid"],
  ...["null", "true", "no", "yes", "on", "off", "y", "n", ".inf", ".nan", "007", "0x1f", "0o17", "1_000", "1e3"],
  ...[
    "2026-01-01",
    "12",
    "-",
    "--",
    "---",
    "...",
    ".",
    "..",
    " ",
    "  ",
    "a ",
    " a",
    "- a",
    "a - b",
    "a-b",
    "a b",
    "a.b",
    "a_b",
  ],
  ...[
    "class",
    "new",
    "await",
    "import",
    "def",
    "self",
    "none",
    "lambda",
    "config",
    "policy",
    "pulumi",
    "irm",
    "organization",
  ],
  ...["platform", "registry", "release", "viewer", "owner", "groups", "in", "can", "a1", "a-1", "x".repeat(255)],
];

/** One line each, and code somewhere. */
const TEXTS = [
  ...[
    "$\u007bx}",
    "$$\u007bx}",
    "$(x)",
    "fn::secret",
    "fn::toJSON",
    "#",
    "# a",
    "a # b",
    "a: b",
    "- a",
    "? a",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
  ],
  ...[
    "'",
    '"',
    "`",
    "\\",
    "\\n",
    "\\u0041",
    "//",
    "/*",
    "*/",
    "<!--",
    "]]>",
    "{{x}}",
    "%s",
    "__proto__",
    "null",
    "true",
    "~",
    "<<",
  ],
  ...[
    "é",
    "😀",
    "\u202e",
    "\u2028",
    "\u0085",
    "\u00a0",
    "\ufeff",
    "\ufffe",
    "\u0001",
    "\u007f",
    "\v",
    "-*- coding: latin-1 -*-",
  ],
  ...["Builds what others stand on", " ", " a ", "1", "1.0", "2026-01-01T00:00:00Z", "x".repeat(512)],
];

/** The owner of an organization has them. */
const GRANTABLE = BUILT_IN_ROLE_CAPABILITIES.owner.map((name) => capabilityFrom(name) as string);

const KEYS = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", kid: "1", x: "a".repeat(43) }] });
const DIGESTS = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`);
const BUNDLES = ["application", "base", "byol", "ai", "fips"];
const TIERS = ["APPLICATION", "BASE", "FIPS"].map((tier) => `CATALOG_TIER_${tier}`);
const PRINCIPALS = ["COSIGNED", "INGESTER", "CATALOG_SYNCER"].map((name) => `SERVICE_PRINCIPAL_${name}`);

/** Creates the records. What the API refuses, such as a random pattern, is left out. */
export const growOrganization = async (random: Random, api: Api, place: Place): Promise<void> => {
  const { organization, outsider, nowMs } = place;
  const { json: answer } = await api.call("GET", `${IAM}/roles?uidp.inRoot=true&pageSize=200`);
  const builtIn = (answer.roles as { uid: string }[]).map(({ uid }) => uid);
  const chance = (percent: number): boolean => random.below(100) < percent;
  const maybe = (percent: number, fields: Body): Body => (chance(percent) ? fields : {});
  const some = <T>(items: readonly T[], most = items.length): T[] =>
    random.shuffle(items).slice(0, random.below(most + 1));
  const name = (): string => random.pick(NAMES);
  const text = (): string =>
    chance(60) ? random.pick(TEXTS) : `${random.pick(TEXTS)} ${random.pick(TEXTS)}`.slice(0, 512);
  const texts = (most: number, value: () => string): Body =>
    Object.fromEntries(Array.from({ length: random.below(most + 1) }, () => [random.pick(TEXTS), value()]));
  const described = (): Body => maybe(50, { description: text() });
  const times = async (most: number, work: () => Promise<unknown>): Promise<void> => {
    for (let left = random.below(most + 1); left > 0; left -= 1) await work();
  };
  /** undefined: refused */
  const make = async (collection: Collection, parent: string, fields: Body): Promise<string | undefined> => {
    const { status, json, text: answer } = await postRecord(api, collection, parent, fields);
    if (status === 200) return json.uid as string;
    if (status >= 500 || status === 401 || status === 403) throw new Error(`${collection}: ${status} ${answer}`);
    return undefined;
  };
  const change = async (uid: string, updateMask: string, body: Body): Promise<void> => {
    const { status, text: why } = await api.call("PATCH", `${IAM}/groups/${uid}?updateMask=${updateMask}`, { body });
    if (status !== 200) throw new Error(`group ${uid}: ${status} ${why}`);
  };
  const add = async (own: string[], collection: Collection, parent: string, fields: Body): Promise<void> => {
    const uid = await make(collection, parent, fields);
    if (uid !== undefined) own.push(uid);
  };

  const groups = [organization];
  const roles: string[] = [];
  const identities: string[] = [];
  const providers: string[] = [];
  const repos: string[] = [];
  const group = (): string => random.pick(groups);
  const role = (): string => random.pick([...builtIn, ...roles]);

  const pattern = (): string => {
    for (let left = 20; left > 0; left -= 1) {
      const own = chance(50) ? subjectPattern(random) : anyPattern(random);
      if (own !== "" && isPattern(own)) return own;
    }
    return "a*";
  };
  const preset = (): Body => {
    const [owner, branch] = [random.pick(["acme", "a-1"]), random.pick(["main", "release/1", "v*", "a:b", "é"])];
    const relationships: (() => object)[] = [
      () => presets.github.relationship({ repository: `${owner}/${random.pick(["images", "*"])}`, branch }),
      () => presets.github.relationship({ repository: `${owner}/images`, environment: branch }),
      () => presets.github.relationship({ repository: `${owner}/*`, event: random.pick(["pull_request", "push"]) }),
      () =>
        presets.gitlab.relationship({ project: `${owner}/shop`, tag: branch, ...(chance(50) && { protected: true }) }),
      () => presets.buildkite.relationship({ organization: owner, pipeline: "images", branch }),
      () =>
        presets.kubernetes.relationship({ issuer: "https://oidc.example", namespace: "prod", serviceAccount: owner }),
      () => presets.google.relationship({ uniqueId: "107517467455664443765" }),
      () =>
        presets.aws.relationship({ account: "123456789012", role: "deployer", ...(chance(50) && { session: "a*" }) }),
    ];
    return random.pick(relationships)() as Body;
  };
  const claimMatch = (): Body => ({
    ...(chance(70)
      ? { issuer: random.pick(["https://issuer.example", "https://issuer.example/a/"]) }
      : { issuerPattern: pattern() }),
    ...(chance(60) ? { subject: chance(50) ? subject(random) : text().slice(0, 255) } : { subjectPattern: pattern() }),
    ...random.pick<Body>([{}, {}, { audience: text().slice(0, 255) }, { audiencePattern: pattern() }]),
    ...maybe(40, { claims: texts(3, text) }),
    ...maybe(30, { claimPatterns: texts(3, pattern) }),
  });
  const staticKeys = (): Body => ({
    ...{ issuer: "https://keys.example", subject: text().slice(0, 255), issuerKeys: KEYS },
    ...maybe(30, { audiences: [text().slice(0, 255)] }),
    ...maybe(40, { expirationTime: new Date(nowMs + (1 + random.below(300)) * 86_400_000).toISOString() }),
  });
  const awsIdentity = (): Body => ({
    awsAccount: "123456789012",
    ...(chance(50) ? { arn: text() } : { arnPattern: pattern() }),
    ...(chance(50) ? { userId: text() } : { userIdPattern: pattern() }),
  });
  const relationship = (): Body =>
    random.pick<() => Body>([
      preset,
      preset,
      () => ({ claimMatch: claimMatch() }),
      () => ({ claimMatch: claimMatch() }),
      () => ({ staticKeys: staticKeys() }),
      () => ({ awsIdentity: awsIdentity() }),
      () => ({ servicePrincipal: random.pick(PRINCIPALS) }),
    ])();

  if (chance(30)) await change(organization, "kind", { kind: "ORG_KIND_CUSTOMER" });
  if (chance(50)) await change(organization, "name,description", { name: name(), description: text() });
  await times(8, () => add(groups, "groups", group(), { name: name(), ...described() }));
  await times(4, () =>
    add(roles, "roles", group(), {
      name: name(),
      ...described(),
      capabilities: [...some(GRANTABLE, 5), "CAP_IAM_GROUPS_LIST"],
    }),
  );
  await times(8, () =>
    add(identities, "identities", group(), {
      name: name(),
      ...described(),
      ...maybe(20, { company: text() }),
      ...relationship(),
    }),
  );
  const bound = [...identities, ...(outsider === undefined ? [] : [outsider])];
  if (bound.length > 0)
    await times(10, async () => {
      const fields = { identityUid: random.pick(bound), roleUid: role() };
      const at = group();
      await make("roleBindings", at, fields);
      if (chance(15)) await make("roleBindings", at, fields);
    });
  await times(2, () =>
    add(providers, "identityProviders", organization, {
      ...{ name: name(), ...described(), ...maybe(60, { defaultRole: role() }) },
      oidc: {
        ...{ issuer: "https://login.example", clientId: text() },
        ...(chance(50) ? { pkceEnabled: true } : { clientSecret: "kept by the service" }),
        ...maybe(50, { groupsClaim: text(), additionalScopes: some(["profile", "email", text()]) }),
        ...maybe(20, { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" }),
      },
    }),
  );
  if (providers.length > 0)
    await times(4, () =>
      make("externalGroupRoleMappings", random.pick(providers), {
        externalGroupId: text(),
        roleUid: role(),
        scope: organization,
      }),
    );
  await times(3, () =>
    make("groupInvites", group(), {
      ...{ roleUid: role(), ttl: random.pick(["604800s", "3600.5s", "0.001s"]) },
      ...maybe(50, { email: random.pick(["ann@acme.example", "o'hara+a@acme.example"]) }),
      ...maybe(30, { singleUse: true }),
    }),
  );
  await times(2, () =>
    make("accountAssociations", group(), {
      ...{ name: name(), ...described() },
      ...maybe(50, { amazon: { account: "123456789012" } }),
      ...maybe(40, { google: { projectId: text(), projectNumber: "42" } }),
      ...maybe(40, { azure: { tenantId: text(), clientIds: { [random.pick(TEXTS)]: text() } } }),
      ...(identities.length > 0
        ? maybe(50, { chainguard: { serviceBindings: { [random.pick(TEXTS)]: random.pick(identities) } } })
        : {}),
      ...maybe(40, {
        github: { appInstallations: { "12345": { installations: [{ installationId: "67890", name: text() }] } } },
      }),
    }),
  );
  await times(4, () =>
    add(repos, "repos", group(), {
      name: random.pick([
        "nginx",
        "Nginx",
        "NGINX_1",
        "__proto__",
        "$\u007bx}",
        "a'b\"c",
        "é😀",
        "constructor",
        "\\",
        "$",
      ]),
      ...described(),
      ...(repos.length > 0 && chance(30)
        ? { sync_config: { source: random.pick(repos), ...maybe(30, { google: text() }) } }
        : {
            ...maybe(50, { catalogTier: random.pick(TIERS), bundles: some(BUNDLES) }),
            ...maybe(30, { aliases: ["web:latest", "a/b:1"], activeTags: some(["latest", "1", "1.0"]) }),
          }),
      ...maybe(30, {
        customOverlay: {
          contents: {
            packages: some(["curl", "bash"]),
            runtimeRepositories: ["b", "a"],
            runtimeKeyring: [{ name: text(), content: text() }],
          },
          ...{ environment: texts(3, text), annotations: texts(2, text) },
          accounts: {
            runAs: text(),
            users: [{ username: text(), uid: 7 }],
            groups: [{ groupname: text(), members: ["b", "a"] }],
          },
        },
      }),
    }),
  );
  if (repos.length > 0)
    await times(5, () =>
      make("tags", random.pick(repos), {
        ...{
          name: random.pick(["latest", "1", "1.0", "1.2-r3", "sha256-abc", "latest-20260101", "_", "null"]),
          digest: random.pick(DIGESTS),
        },
        ...maybe(30, { deprecated: true, bundles: some(BUNDLES) }),
      }),
    );
};

const isPattern = (text: string): boolean => {
  try {
    patternMatcher(text);
    return true;
  } catch {
    return false;
  }
};
