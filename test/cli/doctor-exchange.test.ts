// `irm doctor` where the exchange refuses a workload's token: what the token has, and what the identity wants.
import { expect, test, vi } from "vitest";
import { IAM } from "../harness/api-server.ts";
import { doctor, failed, MAIN, messageOf, PRODUCTION, startDoctor } from "../harness/doctor.ts";
import { createUid } from "../harness/records.ts";
import { startProxy } from "../support/proxy.ts";

const { api, release, workload } = await startDoctor();

const setIdentity = (token = "") => {
  vi.stubEnv("IRM_IDENTITY", release);
  vi.stubEnv("IRM_TOKEN", token);
};

const createIdentity = (name: string): Promise<string> => {
  const claimMatch = { issuer: api.issuer, subjectPattern: `repo:acme/${name}:.*` };
  return createUid(api, "identities", api.organization, { name, claimMatch });
};

test("a refused exchange is explained field by field, where IRM_TOKEN may read the identity", async () => {
  setIdentity(api.owner.token);
  await workload("repo:acme/images:ref:refs/heads/dev", { claims: { environment: "staging" } });
  const found = await doctor();
  expect([found.code, failed(found)]).toEqual([3, ["exchange", "claim.sub", "claim.environment"]]);
  expect(messageOf(found, "sign-in")).toContain(`${api.owner.uid}, by IRM_TOKEN`);
  expect(found.checks.filter(({ id }) => id.startsWith("claim."))).toEqual([
    { id: "claim.iss", ok: true, message: `"${api.issuer}", as claimMatch.issuer wants` },
    {
      id: "claim.sub",
      ok: false,
      message: `the token has "repo:acme/images:ref:refs/heads/dev"; the identity wants "${MAIN}" (claimMatch.subject)`,
      fix: "use a token whose sub is as the identity wants it, or change claimMatch.subject of the identity",
    },
    { id: "claim.aud", ok: true, message: `"${api.authUrl}", as the default audience wants` },
    {
      id: "claim.environment",
      ok: false,
      message: 'the token has "staging"; the identity wants "production" (claimMatch.claims.environment)',
      fix: "use a token whose environment is as the identity wants it, or change claimMatch.claims.environment of the identity",
    },
    { id: "claim.exp", ok: true, message: expect.stringMatching(/^good until \S+:\d\dZ \(in 1 hour\)$/) },
  ]);
});

test("a refused exchange is tried also where IRM_TOKEN comes first; it passes with the right claims", async () => {
  setIdentity(api.owner.token);
  await workload(MAIN, PRODUCTION);
  const found = await doctor();
  expect(failed(found)).toEqual([]);
  expect(messageOf(found, "exchange")).toContain(`${release}, by an exchange of IRM_IDENTITY_TOKEN`);
  expect(messageOf(found, "claim.sub")).toBe(`"${MAIN}", as claimMatch.subject wants`);
});

test("a refused exchange shows the claims where nobody may read the identity", async () => {
  setIdentity();
  await workload("repo:acme/images:pull_request");
  const found = await doctor();
  expect(failed(found)).toEqual(["sign-in", "claims"]);
  expect(messageOf(found, "claims")).toContain('\n  sub: "repo:acme/images:pull_request"\n');
  expect(messageOf(found, "claims")).toContain(`\n  iss: "${api.issuer}"`);
  expect(messageOf(found, "claims")).toMatch(
    /\n {2}iat: 20\d\d-\S+Z \(\d+ seconds? ago\)\n {2}exp: \S+Z \(in 1 hour\)\n/,
  );
  expect(found.checks.at(-1)?.fix).toContain("set IRM_TOKEN to a token that may read the identity");
});

test("a refused exchange says that the token has ended, whoever asks, and how to get a new one", async () => {
  setIdentity();
  const end = Math.floor(api.clock() / 1000) - 2 * 60 * 60;
  await workload(MAIN, { claims: { ...PRODUCTION.claims, iat: end - 60, exp: end } });
  const found = await doctor();
  expect(failed(found)).toEqual(["sign-in", "claim.exp"]);
  const command = `npx pulumi-irm serve token --issuer ${api.issuer} --subject ${MAIN} --claim environment=production`;
  expect(found.checks.at(-1)).toEqual({
    id: "claim.exp",
    ok: false,
    message: expect.stringMatching(/^the token ended at \S+Z \(2 hours ago\)$/),
    fix: `get a new one: export IRM_IDENTITY_TOKEN=$(${command})`,
  });
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  expect((await doctor()).checks.at(-1)).toEqual(found.checks.at(-1));
});

test("a refused exchange shows the claims where IRM_TOKEN may not read the identity either", async () => {
  setIdentity((await api.actor("blind")).token);
  await workload("repo:acme/images:pull_request");
  const found = await doctor();
  expect(failed(found)).toEqual(["exchange", "claims"]);
  expect(messageOf(found, "claims")).toContain("you cannot read the identity");
});

test("a refused exchange names the identity that fits, where none is set", async () => {
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const uid = await createIdentity("shop");
  await workload("repo:acme/shop:ref:refs/heads/main");
  const found = await doctor();
  expect(failed(found)).toEqual(["exchange", "claims"]);
  expect(found.checks.at(-1)).toMatchObject({
    message: expect.stringContaining(`the token fits:\n  ${uid} shop`),
    fix: `export IRM_IDENTITY=${uid}`,
  });
  await workload("repo:acme/other:ref:refs/heads/main");
  expect(messageOf(await doctor(), "claims")).toMatch(/^no identity that you can list accepts this token:\n/);
});

test("a service that refuses an exchange writes nothing into the command that is advised", async () => {
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const uid = await createIdentity("lab");
  const proxy = await startProxy(() => api.baseUrl);
  const identities = JSON.stringify(await api.ok("GET", `${IAM}/identities`)).replaceAll(uid, "$(reboot)");
  proxy.answer("GET", /\/identities\?/, 200, JSON.parse(identities));
  vi.stubEnv("IRM_AUTH_URL", api.authUrl);
  vi.stubEnv("IRM_BASE_URL", proxy.url);
  await workload("repo:acme/lab:ref:refs/heads/main");
  const found = await doctor();
  await proxy.close();
  expect(messageOf(found, "claims")).toMatch(/^ListIdentities: the service lists a record "lab" with the uid "\$/);
  expect(found.checks.map(({ fix }) => fix).join()).not.toContain("reboot");
});

test("a refused exchange is not explained where the exchange cannot be reached", async () => {
  setIdentity(api.owner.token);
  vi.stubEnv("IRM_AUTH_URL", "http://127.0.0.1:2");
  await workload(MAIN, PRODUCTION);
  const found = await doctor();
  expect(failed(found)).toEqual(["exchange"]);
  expect(found.checks.at(-1)?.fix).toContain("is the address of the token exchange right?");
});

test("a refused exchange names an identity that is not there, and an API token in place of a workload's", async () => {
  vi.stubEnv("IRM_IDENTITY", `${api.organization}/${"0".repeat(16)}`);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  await workload(MAIN);
  expect(messageOf(await doctor(), "claims")).toBe(`there is no identity ${api.organization}/${"0".repeat(16)}`);
  vi.stubEnv("IRM_TOKEN", "");
  vi.stubEnv("IRM_IDENTITY_TOKEN", api.owner.token);
  const found = await doctor();
  expect(messageOf(found, "claims")).toMatch(/^this is an API token, and not a workload's:\n/);
  expect(found.checks.at(-1)?.fix).toBe("give it as IRM_TOKEN");
});
