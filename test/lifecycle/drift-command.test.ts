// `irm drift` in the folder of a program. test/access/drift has the rest of the report.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, it } from "vitest";
import type { DriftReport } from "../../access/format/drift.ts";
import { BUILT_IN_ROLE_CAPABILITIES } from "../../schema/index.ts";
import { openWorkplace, type Program } from "../harness/engine-workplace.ts";
import { driftOf } from "../harness/irm-command.ts";

const SECRET = "a very secret text";

const source = `
import * as pulumi from "@pulumi/pulumi";
import { Group, Identity, IdentityProvider, Role, RoleBinding, RoleBindingSet } from "pulumi-irm/plugin";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "team", description: "of the program" });
const claimMatch = { issuer: "https://issuer.example", subject: "ci", claims: { "repository.name": "images" } };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch });
const role = new Role("role", { parent: team, name: "role", capabilities: ["groups.list", "repo.list"] });
new Role("gone", { parent: team, name: "gone", capabilities: ["groups.list"] });
new Group("hidden", { parent: team, name: pulumi.secret("${SECRET}"), description: "of the program" });
const below = new Group("below", { parent: team, name: "below" });
new RoleBinding("binding", { parent: below, identity: ci, role });
new RoleBindingSet("set", {
  parent: team,
  exclusive: true,
  bindings: [{ identity: ci, role: "viewer" }, { identity: ci, role }],
});
const oidc = { issuer: "https://idp.example", clientId: "irm", clientSecret: "${SECRET}" };
new IdentityProvider("idp", { parent, name: "idp", defaultRole: "viewer", oidc });
`;

const parse = (text: string): DriftReport => JSON.parse(text) as DriftReport;

const place = openWorkplace();
let program: Program;
beforeAll(async () => {
  const env = { ORG: place.server.organization };
  program = await place.program("native", source, env, { plugin: inject("pluginFolder") });
  // The first update of an exclusive set removes nothing.
  await program.must("up", "--yes", "--skip-preview");
});

const send = async (method: string, path: string, body?: object): Promise<string> => {
  const { status, json } = await place.call(method, `/iam/v2beta1/${path}`, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.uid as string;
};

it("irm drift exits with 3 for what was changed by hand or in the program, and sends nothing that writes", async () => {
  const [team, ci] = [place.uidOf("groups", "team"), place.uidOf("identities", "ci")];
  const [role, gone] = [place.uidOf("roles", "role"), place.uidOf("roles", "gone")];
  await send("PATCH", `groups/${team}?updateMask=description`, { description: "by hand" });
  await send("PATCH", `identities/${ci}?updateMask=claimMatch`, {
    claimMatch: { issuer: "https://issuer.example", subject: "ci", claims: { "repository.name": "evil" } },
  });
  const capabilities = ["CAP_IAM_GROUPS_LIST", "CAP_TAG_LIST"];
  await send("PATCH", `roles/${role}?updateMask=capabilities`, { capabilities });
  await send("DELETE", `roles/${gone}`);
  await send("PATCH", `groups/${place.uidOf("groups", SECRET)}?updateMask=description`, { description: "by hand" });
  const editor = place.rows("roles", "name = ? AND parent IS NULL", "editor")[0]?.uid as string;
  const extra = await place.create(`roleBindings/${team}`, { identityUid: ci, roleUid: editor });
  const root = await place.create(`roleBindings/${place.server.organization}`, { identityUid: ci, roleUid: editor });
  const [removed] = place.rows("role_bindings", "parent = ? AND role_uid = ?", team, role);
  await send("DELETE", `roleBindings/${removed?.uid}`);
  const before = (BUILT_IN_ROLE_CAPABILITIES.editor ?? []).filter((one) => one !== "repo.create");
  const roles = { ...BUILT_IN_ROLE_CAPABILITIES, editor: before };
  const lock = JSON.stringify({ services: { [place.server.baseUrl]: { date: "2026-08-21", roles } } });
  writeFileSync(join(program.folder, "roles.lock.yaml"), lock);
  program.beginCreate("team", "begun");
  await place.server.takeRequests();

  program.write(source.replace('"groups.list", "repo.list"', '"groups.list", "repo.list", "repo.create"'));
  const { code, stdout, stderr } = await driftOf(program, "--format", "json");
  expect(code, stderr).toBe(3);
  expect(await place.writes()).toEqual([]);
  expect(stdout).not.toContain(SECRET);
  const report = parse(stdout);
  expect(report.origin).toMatchObject({ stack: "native/dev", service: place.server.baseUrl });
  const drift = Object.fromEntries(report.drift.map((one) => [one.resource.replace(/^.*:/, ""), one]));
  expect(Object.keys(drift).sort()).toEqual(["ci", "gone", "hidden", "role", "set", "team"]);
  const atService = { changedIn: "service" };
  expect(drift.ci?.differences).toEqual([
    { path: 'claimMatch.claims["repository.name"]', program: "images", live: "evil", ...atService },
  ]);
  expect(drift.role?.differences).toEqual([
    { path: "capabilities", program: "repo.create", live: null, changedIn: "program" },
    { path: "capabilities", program: "repo.list", live: null, ...atService },
    { path: "capabilities", program: null, live: "tag.list", ...atService },
  ]);
  expect(drift.hidden).toMatchObject({ name: "[secret]", groupName: "team/[secret]" });
  expect(drift.gone).toMatchObject({ change: "gone", uid: gone, name: "gone", groupName: "team", differences: [] });
  expect(drift.set).toMatchObject({ kind: "role binding set", uid: team, names: { [ci]: "ci", [role]: "role" } });
  expect(drift.set?.differences).toEqual([
    { path: "bindings", program: { identity: ci, role }, live: null, ...atService },
    { path: "bindings", program: null, live: { identity: ci, role: editor }, ...atService },
  ]);
  expect(report.undeclared.filter(({ own }) => !own)).toMatchObject([
    { uid: root, name: "ci", groupName: "/", role: "editor" },
    { uid: extra, name: "ci", groupName: "team", role: "editor", removedBy: drift.set?.resource },
  ]);
  const reach = { identity: ci, binding: root, gains: ["repo.create"] };
  expect(report.roles).toMatchObject([{ name: "editor", added: ["repo.create"], removed: [], reaches: [reach] }]);
  // No journal has it, as on another machine.
  expect(report.pending).toEqual([
    {
      ...{ resource: null, logicalName: "begun", kind: "group", uid: null, name: "begun" },
      ...{ group: place.server.organization, groupName: "/", time: null, source: "state" },
    },
  ]);
  expect(report.unknown).toEqual([]);
});

it("irm drift exits with 1 if the program fails", async () => {
  program.write(source.replace(`"repo.list"`, `"repo.lst"`));
  const failed = await driftOf(program);
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toContain("irm drift: the preview has errors. Correct them first:");
});
