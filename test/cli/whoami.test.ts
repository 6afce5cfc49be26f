// `irm access whoami`: the identity, how it was reached, what it may do where, and the answer to --check. It only reads, and prints no secret.
import { beforeEach, expect, test, vi } from "vitest";
import { createUid } from "../harness/records.ts";
import { requestsOf } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { exactFailure, failure, runIrm, success } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const { api, platform, registry, publisher, reader } = await startTeam();
const lister = await createUid(api, "roles", api.organization, {
  name: "lister",
  capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_IDENTITY_LIST"],
});
const release = await api.actor("release", { role: publisher, at: registry, in: platform });
await createUid(api, "roleBindings", api.organization, { identityUid: release.uid, roleUid: lister });
const blind = await api.actor("blind", { role: publisher, at: registry });
const nobody = await api.actor("nobody");
const folder = testFolder();

beforeEach(() => {
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  return () => vi.unstubAllEnvs();
});

const whoami = (...flags: string[]) => runIrm("access", "whoami", ...flags);
const json = async (...flags: string[]) => JSON.parse((await whoami(...flags, "--format", "json")).stdout);

const requests = (): string[] => {
  const seen = requestsOf(api).map(({ method, path }) => `${method} ${path}`);
  api.log.length = 0;
  return seen;
};

const workload = async (subject: string): Promise<string> => {
  const token = await api.identityToken(subject);
  vi.stubEnv("IRM_IDENTITY_TOKEN", token);
  return token;
};

test("prints the identity of a workload's token, how it was reached, by which settings, and what it may do where", async () => {
  await workload("release");
  expect(await whoami()).toEqual(
    success(`release
  uid       ${release.uid}
  service   ${api.baseUrl} (environment IRM_BASE_URL)
  token     an exchange of IRM_IDENTITY_TOKEN
  exchange  ${api.authUrl} (default)
  assumes   the one with the workload's issuer and subject (default)
  workload  issuer "${api.issuer}", subject "release"
  until     2026-01-28T13:54:21.000Z

  platform/registry  through publisher
      tag.create, repo.list
  /  through lister
      groups.list, identity.list

2 grants
`),
  );
  await workload("release");
  vi.stubEnv("IRM_IDENTITY", release.uid);
  vi.stubEnv("IRM_AUTH_URL", api.authUrl);
  const { stdout } = await whoami();
  expect(stdout).toContain(`exchange  ${api.authUrl} (environment IRM_AUTH_URL)\n`);
  expect(stdout).toContain(`assumes   ${release.uid} (environment IRM_IDENTITY)\n`);
});

test.each([
  ["IRM_TOKEN", () => release.token, "IRM_TOKEN"],
  ["IRM_TOKEN_FILE", () => folder.write("token", `${release.token}\n`), "the file that IRM_TOKEN_FILE names"],
])("prints that the token is of %s", async (variable, value, source) => {
  vi.stubEnv(variable, value());
  const { code, stdout } = await whoami();
  expect(code).toBe(0);
  expect(stdout).toContain(`  token     ${source}\n  workload  issuer "${api.issuer}", subject "release"\n`);
  expect(stdout).not.toContain("exchange  ");
});

test("prints JSON: the uid of the group, the name of the role, and its capabilities", async () => {
  vi.stubEnv("IRM_TOKEN", release.token);
  expect(await json()).toEqual({
    identity: release.uid,
    name: "release",
    expires: "2026-01-28T13:54:21.000Z",
    grants: [
      { group: registry, role: "publisher", capabilities: ["repo.list", "tag.create"] },
      { group: api.organization, role: "lister", capabilities: ["groups.list", "identity.list"] },
    ],
  });
});

test("knows the grants of a caller who may read nothing, not even its own identity", async () => {
  vi.stubEnv("IRM_TOKEN", blind.token);
  expect(await json()).toMatchObject({ identity: blind.uid, name: null, grants: [{ group: registry }] });
  const { stdout } = await whoami();
  expect(stdout).toMatch(/^an identity whose name you cannot read\n/);
  expect(stdout).toContain(`\n  registry (${registry})  through publisher\n`);
});

test("says that an identity without a binding holds nothing", async () => {
  vi.stubEnv("IRM_TOKEN", nobody.token);
  const { code, stdout } = await whoami();
  expect(code).toBe(0);
  expect(stdout).toContain(nobody.uid);
  expect(stdout).toContain("\nNo grant: it may do nothing but what needs no right.\n");
  expect((await json()).grants).toEqual([]);
});

test("shows only what a token with limits may do", async () => {
  const cap = ["groups.list"];
  const inScope = await api.token(api.owner.uid, { subject: "owner", cap, scopes: [registry] });
  vi.stubEnv("IRM_TOKEN", inScope);
  expect((await json()).grants).toEqual([{ group: registry, role: null, capabilities: cap }]);
  expect((await whoami()).stdout).toContain(
    `  registry (${registry})  through the capabilities of its token\n      groups.list\n`,
  );
  expect(await whoami("--check", `groups.list@${registry}`)).toMatchObject({
    code: 0,
    stdout: `groups.list at ${registry}: yes, through the capabilities of its token\n`,
  });
  expect((await whoami("--check", `groups.list@${platform}`)).code).toBe(3);
  expect((await whoami("--check", `groups.create@${registry}`)).code).toBe(3);
});

test("reports a token that the service refuses, and no credentials, with exit code 1", async () => {
  vi.stubEnv("IRM_TOKEN", "not-a-token-of-this-service");
  const refused = await whoami();
  expect(refused).toMatchObject(failure(1, "It comes from IRM_TOKEN."));
  expect(refused.stderr).not.toContain("not-a-token");
  vi.stubEnv("IRM_TOKEN", "");
  expect(await whoami()).toMatchObject({ code: 1, stderr: expect.stringContaining("no credentials") });
});

test.each<[string, () => string, string]>([
  ["the group of the binding, by path", () => "tag.create@platform/registry", "yes, through publisher"],
  ["the same, by uid", () => `tag.create@${registry}`, "yes, through publisher"],
  ["a group below it, with the API's name", () => "CAP_IAM_GROUPS_LIST@platform", "yes, through lister"],
  ["a group above it", () => "tag.create@platform", "no"],
])("--check answers for %s", async (_, check, message) => {
  vi.stubEnv("IRM_TOKEN", release.token);
  const answer = check().replace("CAP_IAM_GROUPS_LIST", "groups.list").replace("@", " at ");
  expect(await whoami("--check", check())).toEqual({
    code: message === "no" ? 3 : 0,
    stdout: `${answer}: ${message}\n`,
    stderr: "",
  });
});

test("--check counts a path that the caller cannot follow as no", async () => {
  vi.stubEnv("IRM_TOKEN", reader.token);
  const { code, stdout } = await whoami("--check", "groups.list@platform/registry");
  expect(code).toBe(3);
  expect(stdout).toContain("not known, which counts as no: you cannot see which group this path means; give its uid");
  expect(await whoami("--check", `groups.list@${registry}`)).toMatchObject({ code: 0 });
});

test("--check adds its answers to the JSON, and exits with 3 if one of several is not held", async () => {
  vi.stubEnv("IRM_TOKEN", blind.token);
  const both = ["--check", `tag.create@${registry}`, "--check", `tag.create@${platform}`];
  const { code, stdout } = await whoami(...both, "--format", "json");
  expect(code).toBe(3);
  expect(JSON.parse(stdout).checks).toEqual([
    { capability: "tag.create", group: registry, held: true, message: "yes, through publisher" },
    { capability: "tag.create", group: platform, held: false, message: "no" },
  ]);
});

test("--check reports a group that does not exist, and follows a path through groups of one name", async () => {
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const absent = `${platform}/${"0".repeat(16)}`;
  for (const [group, near] of [
    ["platfrom", "; did you mean platform?"],
    [absent, ""],
  ])
    expect(await whoami("--check", `groups.list@${group}`)).toEqual(
      exactFailure(1, `irm access whoami: there is no group "${group}"${near}\n`),
    );
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const second = await createUid(api, "groups", api.organization, { name: "platform" });
  const only = await createUid(api, "groups", second, { name: "only-here" });
  const twin = await createUid(api, "groups", second, { name: "registry" });
  const { checks } = await json("--check", "groups.list@platform/only-here");
  expect(checks).toMatchObject([{ group: only, held: true }]);
  const uids = [registry, twin].sort().map((uid) => `  ${uid}\n`);
  expect(await whoami("--check", "groups.list@platform/registry")).toMatchObject({
    code: 1,
    stderr: `irm access whoami: 2 groups have the path "platform/registry"; give a uid:\n${uids.join("")}`,
  });
  for (const uid of [twin, only, second]) await api.ok("DELETE", `/iam/v2beta1/groups/${uid}`);
});

test("irm access whoami is safe to run anywhere: it sends GETs and the exchange, and prints neither the workload's token nor the API's, whole or in part", async () => {
  const token = await workload("release");
  requests();
  const texts = [await whoami(), await whoami("--format", "json"), await whoami("--check", `tag.create@${registry}`)];
  const sent = requests();
  expect(sent).toEqual(expect.arrayContaining(["GET /sts/exchange", "GET /auth/v1/ok"]));
  expect(sent.filter((one) => !one.startsWith("GET "))).toEqual([]);
  vi.stubEnv("IRM_TOKEN", release.token);
  texts.push(await whoami());
  const printed = texts.map(({ stdout, stderr }) => stdout + stderr).join("");
  for (const part of [token, release.token].flatMap((one) => one.split("."))) expect(printed).not.toContain(part);
  expect(printed).not.toMatch(/eyJ/);
});
