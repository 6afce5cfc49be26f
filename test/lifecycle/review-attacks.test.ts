// Changes that once gave access away under a review which showed nothing: each has its row or its finding here.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { Report } from "../../access/review/report.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { irmIn, reviewOf } from "../harness/irm-command.ts";

const ISSUER = "https://issuer.example";
const claims = (subject: string) => `claimMatch: { issuer: "${ISSUER}", subject: "${subject}" }`;
const identity = (name: string, parent = "org") =>
  `new Identity("${name}", { parent: ${parent}, name: "${name}", allowReplace: true, ${claims(name)} });`;
const policy = (groups: string, key: string, at: string) => `
new AccessPolicy("pol", { policy: { organization: { uid: org }, groups: ${groups},
  identities: { ${key}: { in: "${at}", ${claims("deploy")} } }, access: { "${at}": { viewer: ["${key}"] } } } });`;

/** Tests of the base: one file names its organization, and the other one none. */
const TESTS = `tests:
  - { name: only the owner gives access, capability: role_bindings.create, only: [owner] }
  - { name: ci gives no access, identity: ci, cannot: { capability: role_bindings.create, at: / } }
`;

let place: Workplace;
let liar: Workplace;
let program: Program;
const by: Record<string, string> = {};

const source = (resources: string) => `
import { isDryRun } from "@pulumi/pulumi/runtime/index.js";
import { AccessPolicy, Group, Identity, Provider, RoleBinding } from "pulumi-irm/plugin";
const org = "${place.server.organization}";
const ci = ${identity("ci")}
const [a, b] = ["a", "b"].map((name) => new Group(name, { parent: org, name }));
${resources}
`;
const first = () =>
  source(`
new Group("organization", { root: true, name: "dev", adopt: org });
new Identity("wide", { parent: org, name: "wide", claimMatch: { issuer: "${ISSUER}", subjectPattern: "repo:acme/.*" } });
${identity("moved", "a")} ${identity("removed")}
${policy("{ above: { groups: { inner: null } } }", "deployer", "above/inner")}
`);
const attack = () =>
  source(`
const evil = new Provider("evil", { baseUrl: process.env.LIAR, authUrl: process.env.LIAR, tokenEnv: "LIAR_TOKEN" });
new Group("there", { parent: org, name: "there" }, { provider: evil });
new RoleBinding("grab", { parent: org, identity: ci, role: "owner" });
new Group("second", { root: true, name: "second" });
new Group("organization", { root: true, name: "renamed", adopt: org });
const wide = new Identity("wide", { parent: org, name: "wide", ${claims("repo:acme/images")} });
new RoleBinding("wide-edits", { parent: org, identity: wide, role: "editor" });
${identity("moved", "b")} ${identity("removed")}
${policy('{ inner: { was: "above" } }', "deploys", "inner")}
`);

beforeAll(async () => {
  place = await createWorkplace();
  const { organization } = place.server;
  program = await place.program("attacks", first(), {}, { plugin: inject("pluginFolder") });
  await program.must("up", "--yes", "--skip-preview");
  // Nobody's resource: an identity with the rights of an owner in each place.
  const [b, owner] = [place.uidOf("groups", "b"), place.uidOf("roles", "owner")];
  for (const [name, group] of [
    ["boss", b],
    ["chief", organization],
  ] as const) {
    by[name] = await place.create(`identities/${group}`, { name, claimMatch: { issuer: ISSUER, subject: name } });
    await place.create(`roleBindings/${organization}`, { identityUid: by[name], roleUid: owner });
  }
  for (const name of ["above", "inner"]) by[name] = place.uidOf("groups", name);
  await place.call("DELETE", `/iam/v2beta1/identities/${place.uidOf("identities", "removed")}`);
  // A service that lists what ours does, where ci owns everything already.
  liar = await createWorkplace([], (file) => {
    const database = new DatabaseSync(join(place.folder, "irm.db"));
    database.exec(`VACUUM INTO '${file}'`);
    database.close();
  });
  const ci = { identityUid: place.uidOf("identities", "ci"), roleUid: owner };
  expect((await liar.call("POST", `/iam/v2beta1/roleBindings/${organization}`, ci)).status).toBe(200);
  const { baseUrl, token } = liar.server;
  Object.assign(program.env, { LIAR: baseUrl, LIAR_TOKEN: token, IRM_ALLOW_TOKEN_SOURCES: `LIAR_TOKEN=${baseUrl}` });
  writeFileSync(join(program.folder, "environment.json"), JSON.stringify(program.env));
  // The tests that count are those of the base.
  mkdirSync(join(program.folder, "named"));
  const files = { "access.tests.yaml": TESTS, "named/access.tests.yaml": `organization: dev\n${TESTS}` };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(program.folder, name), text);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: program.folder, stdio: "ignore" });
  git("init", "--quiet");
  git("add", ...Object.keys(files));
  git("-c", "user.name=a", "-c", "user.email=a@acme.example", "commit", "--quiet", "--message", "base");
  await Promise.all([place, liar].map((one) => one.server.takeRequests()));
});
afterAll(() => Promise.all([place.close(), liar?.close()]));

const jsonOf = async (...flags: string[]): Promise<Report> => {
  const { code, stdout, stderr } = await irmIn(program, [
    ...["review", "--format", "json", "--base", "HEAD"],
    ...flags,
  ]);
  for (const one of [place, liar]) expect(writesOf(await one.server.takeRequests())).toEqual([]);
  expect(code, stderr).toBe(3);
  return Report.parse(JSON.parse(stdout));
};
const there = () => ["--service", `${liar.server.baseUrl}=LIAR_TOKEN`];

it("a review shows nothing of a service that the program names, and the job does not", async () => {
  const takers = { "Identity::moved": by.boss, "Identity::removed": by.chief };
  writeFileSync(join(program.folder, "adopt.json"), JSON.stringify({ resources: takers }));
  program.write(attack());
  const { code, stdout, stderr } = await reviewOf(program, ["--base", "HEAD"]);
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`give --service ${liar.server.baseUrl}=VARIABLE`);
});

it("a review shows who gains what at the service itself, whatever another one lists under the same uids", async () => {
  const report = await jsonOf("--stack", "dev", "--out", "change.json", ...there());
  const { identities, findings, adopted, steps, errors, differs } = report;
  expect({ errors, differs, failed: steps.filter(({ ok }) => !ok) }).toEqual({ errors: [], differs: [], failed: [] });
  expect(new Set([...identities, ...findings].map(({ service }) => service))).toEqual(new Set([place.server.baseUrl]));
  const shown = identities.map(({ uid, name, nameBefore, change, gains, losses }) => {
    const rolesOf = (rows: typeof gains) => [...new Set(rows.map(({ role, group }) => `${role} at ${group}`))];
    return { uid, name, nameBefore, change, gains: rolesOf(gains), losses: rolesOf(losses) };
  });
  const org = place.server.organization;
  expect(shown).toMatchObject([
    { uid: by.chief, name: "removed", nameBefore: "chief", change: "updated" },
    { uid: by.boss, name: "moved", nameBefore: "boss", change: "updated" },
    { name: "ci", change: "none", gains: [`owner at ${org}`], losses: [] },
    // The founder of the second organization.
    { name: "owner", change: "none", gains: ["owner at null"], losses: [] },
    { name: "wide", change: "updated", gains: [`editor at ${org}`], losses: [] },
    { name: "moved", change: "replaced", gains: [] },
    { name: "deploys", change: "created", gains: [`viewer at ${by.above}`], losses: [] },
    { name: "deployer", change: "deleted", gains: [], losses: [`viewer at ${by.inner}`] },
  ]);
  expect(adopted.map(({ uid, resource }) => [resource, uid]).toSorted()).toEqual([
    ["moved", by.boss],
    ["removed", by.chief],
  ]);
  expect(findings.map(({ rule, name }) => `${rule} ${name}`).toSorted()).toEqual([
    "assumed-by-others moved",
    "assumed-by-others removed",
    "gains-owner ci",
    "gains-owner owner",
    "identity-replaced moved",
    "opens-path ci",
    "opens-path moved",
    "opens-path removed",
    "pull-request-writes wide",
    "root-binding ci",
    "root-binding owner",
    "root-binding wide",
    "test-fails ci gives no access",
    "test-fails only the owner gives access",
    "transient-access wide",
  ]);
  expect(findings.find(({ rule }) => rule === "transient-access")?.message).toContain(
    "who can assume it before the change may",
  );
  expect(findings.find(({ rule }) => rule === "test-fails")?.message).toContain(
    "in renamed: ci can role_bindings.create at /",
  );
});

it("a review runs the tests of a base that names its organization, although the change renames it", async () => {
  // A replay: no engine, no program.
  const report = await jsonOf("change.json", "--tests", "named/access.tests.yaml", ...there());
  const failed = report.findings.flatMap(({ rule, name }) => (rule === "test-fails" ? [name] : []));
  expect(failed).toEqual(["only the owner gives access", "ci gives no access"]);
  expect(report.findings.map(({ rule, name }) => `${rule} ${name}`)).toContain("transient-access wide");
});

it("a review shows what an update leaves that ends half-way: the claims of before with the new access", async () => {
  rmSync(join(program.folder, "adopt.json"));
  const half = first().replace(
    /new Identity\("wide".*\n/,
    `
const wide = new Identity("wide", { parent: org, name: "wide", claimMatch: { issuer: "${ISSUER}", subjectPattern: "repo:acme/.*" } });
new RoleBinding("wide-edits", { parent: org, identity: wide, role: "editor" });
`,
  );
  program.write(`${half}\nif (!isDryRun()) throw new Error("half-way");`);
  const { identities, errors } = await jsonOf("--stack", "dev");
  expect(errors).toEqual(["Unhandled exception: Error: half-way", "half-way"]);
  expect(identities.map(({ name, change, gains }) => [name, change, gains[0]?.role])).toContainEqual([
    "wide",
    "none",
    "editor",
  ]);
});
