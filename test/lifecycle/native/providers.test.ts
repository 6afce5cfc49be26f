// Explicit providers, each with a process of its own: two addresses, and two of one, where a record has one owner.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, it } from "vitest";
import { Report } from "../../../access/review/report.ts";
import { openWorkplace, type Program, type Workplace } from "../../harness/engine-workplace.ts";
import { reviewOf } from "../../harness/irm-command.ts";

const settings = ({ env }: Workplace, more: object = {}): string =>
  JSON.stringify({
    ...{ ...more, baseUrl: env.IRM_BASE_URL },
    authUrl: env.IRM_AUTH_URL,
    identity: env.IRM_IDENTITY,
    identityTokenFile: env.IRM_IDENTITY_TOKEN_FILE,
  });

const one = openWorkplace();
const other = openWorkplace();
let program: Program;
let temporary: string;
beforeAll(async () => {
  const path = `/iam/v2beta1/groups/${other.server.organization}`;
  await other.call("POST", path, { name: "platform" });
  await other.server.takeRequests();
  const files = [one, other].map(({ env }) => env.IRM_IDENTITY_TOKEN_FILE);
  temporary = join(one.folder, "tmp");
  mkdirSync(temporary);
  const none = {
    TMPDIR: temporary,
    ...{ IRM_BASE_URL: "", IRM_AUTH_URL: "", IRM_IDENTITY: "", IRM_IDENTITY_TOKEN_FILE: "" },
    IRM_ALLOW_TOKEN_SOURCES: files.join(","),
  };
  program = await one.program("providers", source(), none, { plugin: inject("pluginFolder") });
});

/** files that the providers share, of operations that have not ended */
const sharedFiles = () => readdirSync(join(temporary, `pulumi-irm-${process.getuid?.()}`));

const source = (more = "") => `
import { AccessPolicy, Group, Identity, Provider, getGroup, listGroups } from "pulumi-irm/plugin";
const one = new Provider("one", ${settings(one)});
const other = new Provider("other", ${settings(other)});
const again = new Provider("again", ${settings(one, { requestTimeout: 51 })});
const parent = "${one.server.organization}";
for (const [name, provider] of Object.entries({ one, again })) new Group("equal " + name, { parent, name: "equal" }, { provider });
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
const group = new Group("team", { parent, name: "team" }, { provider: one });
const ci = new Identity("ci", { parent: group, name: "ci", claimMatch }, { parent: group });
const policy = new AccessPolicy("acme", {
  adopt: "match",
  policy: {
    organization: { uid: "${other.server.organization}" },
    groups: { platform: null },
    identities: { release: { in: "platform", claimMatch } },
    access: { platform: { viewer: ["release"] } },
  },
}, { providers: [other] });
export const uid = policy.groups.platform;
export const release = policy.identities.release;
export const found = (await getGroup({ name: "platform", parent: "${other.server.organization}" }, { provider: other })).uid;
export const names: string[] = [];
for await (const { name } of listGroups({ uidp: { childrenOf: "${other.server.organization}" } }, { parent: policy })) names.push(name);
${more}
`;

// One binding with each provider, the records of the other service by a stack reference; and one of a dynamic resource.
const BINDINGS = `
import { RoleBinding } from "pulumi-irm/plugin";
import { RoleBinding as DynamicBinding } from "pulumi-irm";
import { StackReference } from "@pulumi/pulumi";
const stack = new StackReference("organization/providers/dev");
const there = { parent: stack.requireOutput("uid"), identity: stack.requireOutput("release") };
new RoleBinding("here", { parent: group, identity: ci, role: "editor" }, { provider: one });
new RoleBinding("there", { ...there, role: "owner" }, { provider: other });
new DynamicBinding("dynamic", { parent, identity: ci, role: "viewer" });
`;

it("a program with two addresses creates, adopts and looks up where each provider says", async () => {
  const { output } = await program.must("up", "--yes", "--skip-preview");
  // Equal groups do not wait for each other, under two providers of one address.
  expect((await one.operations()).toSorted()).toEqual([...Array(3).fill("CreateGroup"), "CreateIdentity"]);
  expect(output).not.toContain("waiting for");
  expect(sharedFiles()).toEqual([]);
  expect((await other.operations()).toSorted()).toEqual(["CreateIdentity", "CreateRoleBinding"]);
  const [platform] = other.rows("groups", "name = ?", "platform");
  const outputs = JSON.parse((await program.must("stack", "output", "--json")).stdout);
  const [release] = other.rows("identities", "name = ?", "release");
  expect(outputs).toEqual({
    uid: platform?.uid,
    release: release?.uid,
    found: platform?.uid,
    names: ["platform"],
  });
  // The same workload may have an identity at each address.
  expect(output).not.toContain("warning");
  expect(program.state().text).not.toMatch(/eyJ[\w-]+\./);
});

it("a program with two addresses is reviewed with the services of flags; what a stack reference gives is known", async () => {
  program.write(source(BINDINGS));
  const { IRM_IDENTITY: OTHER_IDENTITY = "", IRM_IDENTITY_TOKEN_FILE: file = "" } = other.env;
  const env = { ...one.env, OTHER_IDENTITY, OTHER_TOKEN: readFileSync(file, "utf8").trim() };
  const flags = ["--format", "json", "--deny", "gains-owner"];
  // The author of the program names the other one, and its credentials.
  const unnamed = await reviewOf(program, flags, env);
  expect({ code: unnamed.code, stdout: unnamed.stdout }).toEqual({ code: 2, stdout: "" });
  expect(unnamed.stderr).toContain(`give --service ${other.server.baseUrl}=VARIABLE`);
  flags.push("--service", `${other.server.baseUrl}=OTHER_TOKEN,OTHER_IDENTITY`);
  const { code, stdout, stderr } = await reviewOf(program, flags, env);
  expect(code, stderr).toBe(3);
  const { identities, findings, unknown, notVisible, origin } = Report.parse(JSON.parse(stdout));
  expect({ unknown, notVisible }).toEqual({ unknown: [], notVisible: [] });
  const gained = identities.map(({ name, gains }) => [
    name,
    [...new Set(gains.map(({ role, groupName }) => `${role} at ${groupName}`))].sort(),
  ]);
  expect(gained).toEqual([
    ["release", ["owner at platform"]],
    ["ci", ["editor at team", "viewer at /"]],
  ]);
  expect(findings.filter(({ denied }) => denied).map(({ rule, name, service }) => [rule, name, service])).toEqual([
    ["gains-owner", "release", other.server.baseUrl],
  ]);
  expect(origin?.service).toBe(`${one.server.baseUrl}, ${other.server.baseUrl}`);
  expect(stdout + stderr).not.toContain("eyJ");
});

it("a program with two addresses is refused another environment of a provider than the job has", async () => {
  const { IRM_BASE_URL, IRM_IDENTITY_TOKEN_FILE } = one.env;
  Object.assign(program.env, { IRM_BASE_URL, IRM_IDENTITY_TOKEN_FILE, TITLE: other.server.baseUrl });
  program.write(`
import { Group, Provider } from "pulumi-irm/plugin";
const evil = new Provider("evil", {}, { envVarMappings: { TITLE: "IRM_BASE_URL" } });
new Group("team", { parent: "${one.server.organization}", name: "team" }, { provider: evil });
`);
  await other.server.takeRequests();
  const { code, output } = await program.run("preview");
  expect(code).not.toBe(0);
  expect(output).toContain("environment IRM_BASE_URL: it is not what the engine was started with");
  expect(await other.server.takeRequests()).toEqual([]);
  Object.assign(program.env, { IRM_IDENTITY_TOKEN_FILE: "", IRM_BASE_URL: "" });
});

it("a program with two addresses is destroyed without the program's packages, each resource where it is", async () => {
  rmSync(join(program.folder, "node_modules"), { recursive: true });
  await one.server.takeRequests();
  await program.must("destroy", "--yes", "--skip-preview");
  expect((await one.operations()).toSorted()).toEqual([...Array(3).fill("DeleteGroup"), "DeleteIdentity"]);
  expect(sharedFiles()).toEqual([]);
  expect(one.rows("groups").map(({ uid }) => uid)).toEqual([one.server.organization]);
  // The adopted group stays.
  expect(other.rows("groups", "name = ?", "platform")).toHaveLength(1);
  expect(other.rows("identities", "name = ?", "release")).toEqual([]);
});
