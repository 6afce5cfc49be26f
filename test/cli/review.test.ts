// `irm review`: exit codes, flags and streams.
import { beforeEach, expect, test, vi } from "vitest";
import { Report } from "../../access/review/report.ts";
import type { Client } from "../../client/client.ts";
import { updateRecord } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import { serve, shuffledIds } from "../harness/api-server.ts";
import { grant, makeChange, writeChangeFile } from "../harness/change-file.ts";
import { createUid } from "../harness/records.ts";
import { serveSignedIn } from "../harness/signed-in.ts";
import { failure, runIrm, success } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
const api = await serveSignedIn();
const { uid: ci } = await api.actor("ci");

const { write } = folder;
const changeOf = async (...args: Parameters<typeof makeChange>): Promise<string> =>
  writeChangeFile(folder.path(`change-${++count}.json`), await makeChange(...args));
let count = 0;

const change = await changeOf(api, grant(api, api.organization, ci, "owner"));

test("prints the change in access, and exits with 0", async () => {
  const { code, stdout, stderr } = await runIrm("review", change, "--format", "json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { identities, findings } = Report.parse(JSON.parse(stdout));
  expect(identities).toMatchObject([{ uid: ci, losses: [] }]);
  expect(identities[0]?.gains).toContainEqual({
    group: api.organization,
    groupName: "/",
    capability: "role_bindings.create",
    role: "owner",
  });
  expect(findings.map(({ rule, subject }) => [rule, subject])).toContainEqual(["gains-owner", ci]);
});

test.each([
  ["terminal", "1 identity gains access"],
  ["markdown", "1 identity gains access"],
  ["html", "<b>1</b> identity gains access</li>"],
])("--format %s prints to stdout", async (format, text) => {
  const stdout = expect.stringContaining(text);
  expect(await runIrm("review", change, "--format", format)).toEqual(success(stdout));
});

test("exits with 3 for a finding of a denied rule, unless it is allowed by uid or name, and says which allowance excuses nothing", async () => {
  const run = async (...flags: string[]) => (await runIrm("review", change, ...flags)).code;
  const deny = ["--deny", "root-binding", "--deny", "gains-owner"];
  expect(await run(...deny)).toBe(3);
  expect(await run(...deny, "--allow", `root-binding@${ci}`)).toBe(3);
  expect(await run(...deny, "--allow", `root-binding@${ci}`, "--allow", "gains-owner@ci")).toBe(0);
  const rules = write("rules.yaml", "# what we deny\ndeny: [gains-owner]\nallow:\n  - gains-owner@ci\n");
  expect(await run("--rules", rules)).toBe(0);
  expect(await run("--rules", rules, "--deny", "root-binding")).toBe(3);
  const { code, stderr } = await runIrm("review", change, "--allow", "gains-owner@nobody");
  const unused = 'gains-owner@nobody excuses nothing: there is no identity, group or role "nobody"';
  expect({ code, stderr }).toEqual({ code: 0, stderr: `irm review: ${unused}\n` });
});

const run = (text: string, ...flags: string[]) =>
  runIrm("review", change, "--rules", write("rules.yaml", text), ...flags);

test("a file of rules may be empty, and may use anchors", async () => {
  expect((await run("")).code).toBe(0);
  expect((await run("deny: [&rule gains-owner, *rule]\n")).code).toBe(3);
});

const SHAPE = "denny: []\ndeny: [gains-ownr]\nallow: gains-owner@x\nrequired: { owner: 2, owners: two }\n";
const UNKNOWN = 'deny[0]: there is no rule "gains-ownr"; did you mean gains-owner?';
test.each<[what: string, text: string, messages: string[]]>([
  [
    "names",
    "deny: [gains-ownr, x]\nalow: []\n",
    [UNKNOWN, 'deny[1]: there is no rule "x"; there are gains-owner, ', "alow is unknown; did you mean allow?"],
  ],
  [
    "shapes",
    SHAPE,
    [
      ...[UNKNOWN, "denny is unknown; did you mean deny?", "allow: must be a list", "required: owner is unknown"],
      "required.owners: must be a number",
    ],
  ],
  ["its YAML", "__proto__: { deny: [] }\n", ["__proto__ cannot be a name here"]],
  ["what it is", "gains-owner\n", ["must be a map"]],
])("a file of rules with mistakes in %s exits with 2, and says all of them", async (what, text, messages) => {
  const refused = await run(text, ...(what === "names" ? ["--deny", "root-bindin"] : []));
  for (const message of messages) expect(refused).toEqual(failure(2, message));
  if (what === "names")
    expect(refused.stderr).toContain('--deny: there is no rule "root-bindin"; did you mean root-binding?');
});

test("a service without its credentials, and no address of the API", async () => {
  expect(await runIrm("review", change, "--service", "https://irm.example.com=NO_SUCH")).toEqual(
    failure(2, "irm review: --service: the environment has no NO_SUCH"),
  );
  vi.stubEnv("IRM_BASE_URL", undefined);
  expect(await runIrm("review", change)).toEqual(failure(1, "no address of the API"));
});

test("a caller that may not list bindings gets a review that says so", async () => {
  const { token } = await api.actor("blind", { role: "registry.pull" });
  vi.stubEnv("IRM_TOKEN", token);
  const { code, stdout } = await runIrm("review", change, "--format", "json");
  const report = Report.parse(JSON.parse(stdout));
  // What the change rests on is not there.
  expect([code, report.steps.map(({ ok }) => ok)]).toEqual([3, [false]]);
  expect(report.notVisible).toContainEqual({
    kind: "roleBinding",
    group: api.organization,
    groupName: "/",
    message: expect.stringContaining("role_bindings.list is needed"),
  });
});

const other = await serve({ ids: shuffledIds(7) });
const there = await other.actor("there");
const group = await createUid(other, "groups", other.organization, { name: "team" });
await createUid(other, "repos", group, { name: "images" });
const made = await makeChange([api, other], async (own, its) => {
  await grant(api, api.organization, ci, "editor")(own);
  await grant(other, other.organization, there.uid, "editor")(its as Client);
});
const remove = { n: 3, service: other.baseUrl, method: "DeleteGroup", uid: group, fields: {} };
const two = writeChangeFile(folder.path("two.json"), { ...made, writes: [...made.writes, remove] });
beforeEach(() => void vi.stubEnv("OTHER_TOKEN", other.owner.token));

test("a change at two services is reviewed with credentials for each", async () => {
  const alone = await runIrm("review", two);
  expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining(`${two} is a change for `) });
  const flags = [two, "--service", `${other.baseUrl}=OTHER_TOKEN`];
  const { code, stdout, stderr } = await runIrm("review", ...flags, "--format", "json");
  expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  const { identities, origin, steps } = Report.parse(JSON.parse(stdout));
  const error = "Precondition failed: cannot delete group with child repos";
  expect(steps.filter(({ ok }) => !ok)).toEqual([{ urn: "3", op: "DeleteGroup", ok: false, error }]);
  expect(new Map(identities.map(({ uid, service }) => [uid, service]))).toEqual(
    new Map([
      [ci, api.baseUrl],
      [there.uid, other.baseUrl],
    ]),
  );
  expect(identities).toHaveLength(2);
  expect(identities.every(({ gains }) => gains.length > 0)).toBe(true);
  expect(origin?.service).toBe(`${api.baseUrl}, ${other.baseUrl}`);
  expect(stdout).not.toContain(other.owner.token);
  // Without a service of the environment, the flags name all of them.
  vi.stubEnv("IRM_BASE_URL", undefined);
  vi.stubEnv("OWN_TOKEN", api.owner.token);
  const both = await runIrm("review", ...flags, "--service", `${api.baseUrl}=OWN_TOKEN`, "--format", "json");
  expect(both.stderr).toBe("");
  expect(Report.parse(JSON.parse(both.stdout)).identities).toEqual(identities);
  const terminal = await runIrm("review", ...flags, "--service", `${api.baseUrl}=OWN_TOKEN`);
  expect(terminal.stdout).toContain(`at ${other.baseUrl}`);
});

// The same ids: each of its uids is one of ours.
const evil = await serve();
// There, it is an owner already.
expect([evil.organization, (await evil.actor("ci", { role: "owner" })).uid]).toEqual([api.organization, ci]);
const review = async (act: (own: Client, its: Client) => Promise<unknown>, ...flags: string[]) => {
  const file = await changeOf([api, evil], (own, its) => act(own, its as Client));
  vi.stubEnv("EVIL_TOKEN", evil.owner.token);
  const all = [file, "--service", `${evil.baseUrl}=EVIL_TOKEN`, "--format", "json", "--deny", "gains-owner"];
  const { code, stdout, stderr } = await runIrm("review", ...all, ...flags);
  return { code, stderr, report: Report.parse(JSON.parse(stdout)) };
};
const here = (role: string) => grant(api, api.organization, ci, role);

test("a service that lists our uids hides no gain of ours behind its own", async () => {
  const { code, report } = await review(async (own, its) => {
    await here("owner")(own);
    await grant(evil, evil.organization, ci, "viewer")(its);
  });
  expect(code).toBe(3);
  const denied = report.findings.filter((one) => one.denied);
  expect(denied).toMatchObject([{ rule: "gains-owner", subject: ci, service: api.baseUrl }]);
  const ours = report.identities.find(({ service }) => service === api.baseUrl);
  expect(ours?.gains.map(({ capability }) => capability)).toContain("role_bindings.create");
});

test("a service that lists our uids changes nothing of ours: who may assume an identity is of each service", async () => {
  const claimMatch = { issuer: "https://evil.example.com", subject: "x" };
  const { report } = await review(async (own, its) => {
    await updateRecord(its, resources.identity, ci, { claimMatch }, ["claimMatch"]);
    await here("viewer")(own);
  });
  expect(report.identities.map(({ uid, change, service }) => [uid, change, service])).toEqual([
    [ci, "updated", evil.baseUrl],
    [ci, "none", api.baseUrl],
  ]);
});

test("a service that lists our uids is what a test of access is about too, and a name means no record of it", async () => {
  const text = "tests: [{ name: only the owner gives, capability: role_bindings.create, only: [owner, ci] }]\n";
  const there = (await evil.actor("there")).uid;
  const { code, report } = await review(
    async (own, its) => {
      await here("viewer")(own);
      await grant(evil, evil.organization, there, "owner")(its);
    },
    ...["--tests", write("two.tests.yaml", text)],
  );
  expect(code).toBe(3);
  const reason = expect.stringContaining("there can role_bindings.create at /, by its binding to owner");
  expect(report.tests).toMatchObject([{ passed: false, reason }]);
});

test("an identity that the caller cannot list may be assumed by a pull request", async () => {
  const [hidden, seen] = [
    await createUid(api, "groups", api.organization, { name: "hidden" }),
    await createUid(api, "groups", api.organization, { name: "seen" }),
  ];
  const bot = await api.actor("bot", { in: hidden, role: "viewer", at: seen });
  const reader = await api.actor("reader", { role: "viewer", at: seen });
  const run = async (role: string, ...flags: string[]) => {
    const file = await changeOf(api, grant(api, seen, bot.uid, role));
    vi.stubEnv("IRM_TOKEN", reader.token);
    const { code, stdout } = await runIrm("review", file, "--format", "json", ...flags);
    return { code, ...Report.parse(JSON.parse(stdout)) };
  };
  const { code, findings, unknown } = await run("editor", "--deny", "pull-request-writes");
  expect(code).toBe(3);
  expect(findings).toMatchObject([{ rule: "pull-request-writes", subject: bot.uid, unknown: true, denied: true }]);
  expect(unknown.map(({ message }) => message)).toEqual([
    "who can assume identity bot is not visible, and it gains capabilities that change things at seen",
  ]);
  expect(await run("viewer", "--deny", "pull-request-writes")).toMatchObject({ code: 0, findings: [] });
  expect((await run("editor", "--deny", "gains-owner", "--deny", "matches-many")).code).toBe(0);
});
