// `irm access --pull-tokens` at a real server: which identities are pull tokens, what they hold where, and when they end.
import { expect, test, vi } from "vitest";
import { parseSeed } from "../../server/index.ts";
import { IAM } from "../harness/api-server.ts";
import { DAY_MS, HOUR_MS, START_MS } from "../harness/clock.ts";
import { createPullToken, pullTokenKeys, usePullToken } from "../harness/pull-token.ts";
import { createUid } from "../harness/records.ts";
import { serveSignedIn } from "../harness/signed-in.ts";
import type { Body } from "../support/http.ts";
import { runIrm, success } from "../support/irm.ts";

const seed = `organization: { name: dev }
identities:
  - name: seeded
    staticKeys: ${JSON.stringify(pullTokenKeys("seeded", new Date(START_MS + 365 * DAY_MS).toISOString()))}
bindings: [{ identity: seeded, role: apk.pull }]
`;
const api = await serveSignedIn({ seed: parseSeed(seed, "seed.yaml") });
const platform = await createUid(api, "groups", api.organization, { name: "platform" });
const cluster = await createPullToken(api, { name: "cluster", group: platform, days: 90 });
const laptop = await createPullToken(api, { name: "laptop", group: api.organization, role: "apk.pull", days: 40 });
const old = await createPullToken(api, { name: "old", group: api.organization, days: 5 });
const capabilities = ["CAP_REPO_LIST", "CAP_IAM_ROLES_CREATE"];
const liar = await createUid(api, "roles", platform, { name: "registry.pull", capabilities });
const disguised = await createPullToken(api, { name: "disguised", group: platform, role: liar, days: 60 });
const keys = pullTokenKeys("none", new Date(api.clock() + 100 * DAY_MS).toISOString());
const unbound = await createUid(api, "identities", platform, { name: "unbound", staticKeys: keys });
for (const [name, relationship] of [
  ["other-issuer", { staticKeys: { ...keys, issuer: "https://pulltoken.issuer.chainguard.dev/" } }],
  ["other-subject", { staticKeys: { ...keys, subject: "ci" } }],
  ["no-rest", { staticKeys: { ...keys, subject: "pull-token-" } }],
  ["claims", { claimMatch: { issuer: keys.issuer, subject: keys.subject } }],
] as const)
  await createUid(api, "identities", platform, { name, ...relationship });
api.clock.advance(11 * DAY_MS + HOUR_MS);
api.owner.token = await api.token(api.identity, { subject: "owner" });
await usePullToken(api, cluster, "cluster");

const tokens = (...flags: string[]) => runIrm("access", "--pull-tokens", ...flags);
const uids = new Map<string, string>(
  (await api.ok("GET", `${IAM}/identities`)).identities.map((one: Body) => [one.name, one.uid]),
);
const CREATED = "2026-01-28T12:54:21.189Z";
const SEEN = "2026-02-08T13:54:21.189Z";

test("prints who holds which role where, the age, the last use and the end, the worst first", async () => {
  const at = (days: number) => new Date(Date.parse(CREATED) + days * DAY_MS).toISOString();
  expect(await tokens()).toEqual(
    success(`6 pull tokens in dev: 1 pull token ends within 30 days, 1 pull token has expired

Pull tokens
- disguised is registry.pull at platform; 11 days old, not used yet, ends ${at(60)}; it holds more than pulls: roles.create
    ${disguised.uid}
- old is registry.pull at /; 11 days old, not used yet, expired ${at(5)}
    ${old.uid}
- laptop is apk.pull at /; 11 days old, not used yet, ends ${at(40)}, within 30 days
    ${laptop.uid}
- seeded is apk.pull at /; 11 days old, not used yet, ends ${at(365)}
    ${uids.get("seeded")}
- cluster is registry.pull at platform; 11 days old, last seen ${SEEN}, ends ${at(90)}
    ${cluster.uid}
- unbound has no role, in platform; 11 days old, not used yet, ends ${at(100)}
    ${unbound}

docs/access.md#pull-tokens says what counts as one.
`),
  );
});

test("prints JSON with a row for each role binding, and Markdown and HTML, where texts of others are neither markup nor mentions", async () => {
  const { pullTokens, notVisible } = JSON.parse((await tokens("--format", "json")).stdout);
  expect(notVisible).toEqual([]);
  expect(pullTokens).toHaveLength(6);
  expect(pullTokens[4]).toEqual({
    uid: cluster.uid,
    name: "cluster",
    group: platform,
    groupName: "platform",
    role: "registry.pull",
    binding: cluster.binding,
    created: CREATED,
    ageDays: 11,
    expires: cluster.expires,
    lastSeen: SEEN,
    state: "valid",
    more: [],
    complete: true,
  });
  expect(pullTokens[0]).toMatchObject({ uid: disguised.uid, role: "registry.pull", more: ["roles.create"] });
  expect(pullTokens[5]).toMatchObject({ uid: unbound, group: platform, role: null, binding: null });
  expect((await tokens("--format", "markdown")).stdout).toContain(
    `- \`laptop\` is \`apk.pull\` at \`/\`; 11 days old, not used yet, ends \`${laptop.expires}\`, within 30 days\n  - \`${laptop.uid}\`\n`,
  );
  expect((await tokens("--format", "html")).stdout).toContain(
    "<bdi>disguised</bdi> is <bdi>registry.pull</bdi> at <bdi>platform</bdi>",
  );
});

test("says what a caller cannot see, and that a token may hold more", async () => {
  const reader = await api.actor("reader", { role: "viewer", at: platform });
  vi.stubEnv("IRM_TOKEN", reader.token);
  const { stdout } = await tokens();
  expect(stdout).toContain("- cluster is registry.pull at platform; 11 days old");
  expect(stdout).toContain("; you cannot see all that it holds, so it may hold more");
  expect(stdout).toContain("Not visible to the caller, so pull tokens may be missing here\n- groups of /\n");
});
