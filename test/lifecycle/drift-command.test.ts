// `irm drift` in the folder of a program: what was changed by hand, what nothing declares, keys that end, and what a killed run left.
import { generateKeyPairSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { DriftReport } from "../../access/format/drift.ts";
import { BUILT_IN_ROLE_CAPABILITIES } from "../../schema/index.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { driftOf } from "../harness/irm-command.ts";
import { pullTokenKeys } from "../harness/pull-token.ts";
import { formsOf } from "../support/form.ts";
import { pluginOf } from "./form.ts";
import { interruptions, source as sourceOf } from "./interruption.ts";

const SECRET = "a very secret text";

const source = (from: string) => `
import * as pulumi from "@pulumi/pulumi";
import { Group, Identity, IdentityProvider, Role, RoleBinding, RoleBindingSet } from "${from}";
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

describe.each(formsOf(["native", "pulumi-irm/plugin"], ["dynamic", "pulumi-irm"]))(
  "irm drift with %s resources",
  (form, from) => {
    let place: Workplace;
    let program: Program;
    afterAll(() => place.close());

    const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name)[0]?.uid as string;
    const send = async (method: string, path: string, body?: object): Promise<string> => {
      const { status, json } = await place.call(method, `/iam/v2beta1/${path}`, body);
      expect(status, JSON.stringify(json)).toBe(200);
      return json.uid as string;
    };

    it("exits with 0 after an update: the caller's own binding is no difference", async () => {
      place = await createWorkplace();
      const env = { ORG: place.server.organization };
      program = await place.program(form, source(from), env, pluginOf(form));
      // The first update of an exclusive set removes nothing.
      await program.must("up", "--yes", "--skip-preview");
      const { code, stdout, stderr } = await driftOf(program, "--format", "json");
      expect(code, stderr).toBe(0);
      const { origin, undeclared, ...rest } = parse(stdout);
      expect(rest).toEqual({
        drift: [],
        roles: [],
        keys: [],
        pullTokens: [],
        pending: [],
        unknown: [],
        notVisible: [],
      });
      expect(undeclared).toMatchObject([{ name: "owner", role: "owner", groupName: "/", own: true }]);
      expect(origin).toMatchObject({ stack: `${form}/dev`, service: place.server.baseUrl });
    });

    it("exits with 3 for what was changed by hand, and sends nothing that writes", async () => {
      const [team, ci] = [uidOf("groups", "team"), uidOf("identities", "ci")];
      const [role, gone] = [uidOf("roles", "role"), uidOf("roles", "gone")];
      await send("PATCH", `groups/${team}?updateMask=description`, { description: "by hand" });
      await send("PATCH", `identities/${ci}?updateMask=claimMatch`, {
        claimMatch: { issuer: "https://issuer.example", subject: "ci", claims: { "repository.name": "evil" } },
      });
      const capabilities = ["CAP_IAM_GROUPS_LIST", "CAP_TAG_LIST"];
      await send("PATCH", `roles/${role}?updateMask=capabilities`, { capabilities });
      await send("DELETE", `roles/${gone}`);
      await send("PATCH", `groups/${uidOf("groups", SECRET)}?updateMask=description`, { description: "by hand" });
      const editor = place.rows("roles", "name = ? AND parent IS NULL", "editor")[0]?.uid as string;
      const extra = await send("POST", `roleBindings/${team}`, { identityUid: ci, roleUid: editor });
      const root = await send("POST", `roleBindings/${place.server.organization}`, {
        identityUid: ci,
        roleUid: editor,
      });
      const [removed] = place.rows("role_bindings", "parent = ? AND role_uid = ?", team, role);
      await send("DELETE", `roleBindings/${removed?.uid}`);
      const keys = [
        { ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }), kid: "1" },
      ];
      const expirationTime = new Date(Date.now() + 10 * 24 * 60 * 60 * 1000).toISOString();
      const issuerKeys = JSON.stringify({ keys });
      const staticKeys = { issuer: "https://issuer.example", subject: "s", issuerKeys, expirationTime };
      const keyed = await send("POST", `identities/${team}`, { name: "keyed", staticKeys });
      const below = uidOf("groups", "below");
      const puller = await send("POST", `identities/${below}`, {
        name: "puller",
        staticKeys: pullTokenKeys("puller", expirationTime),
      });
      const pull = place.rows("roles", "name = ?", "registry.pull")[0]?.uid;
      const binding = await send("POST", `roleBindings/${below}`, { identityUid: puller, roleUid: pull });
      const before = (BUILT_IN_ROLE_CAPABILITIES.editor ?? []).filter((one) => one !== "repo.create");
      const roles = { ...BUILT_IN_ROLE_CAPABILITIES, editor: before };
      const lock = JSON.stringify({ services: { [place.server.baseUrl]: { date: "2026-08-21", roles } } });
      writeFileSync(join(program.folder, "roles.lock.yaml"), lock);
      await place.server.takeRequests();

      const { code, stdout, stderr } = await driftOf(program, "--format", "json");
      expect(code, stderr).toBe(3);
      expect(writesOf(await place.server.takeRequests())).toEqual([]);
      expect(stdout).not.toContain(SECRET);
      const report = parse(stdout);
      const drift = Object.fromEntries(report.drift.map((one) => [one.resource.replace(/^.*:/, ""), one]));
      expect(Object.keys(drift).sort()).toEqual(["ci", "gone", "hidden", "role", "set", "team"]);
      const atService = { changedIn: "service" };
      expect(drift.team).toMatchObject({
        change: "changed",
        kind: "group",
        uid: team,
        name: "team",
        differences: [{ path: "description", program: "of the program", live: "by hand", ...atService }],
      });
      expect(drift.ci?.differences).toEqual([
        { path: 'claimMatch.claims["repository.name"]', program: "images", live: "evil", ...atService },
      ]);
      expect(drift.role?.differences).toEqual([
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
        { uid: binding, name: "puller", groupName: "team/below", role: "registry.pull" },
      ]);
      const row = { uid: puller, name: "puller", group: below, role: "registry.pull", expires: expirationTime };
      expect(report.pullTokens).toMatchObject([{ ...row, lastSeen: expect.any(String), state: "ending", more: [] }]);
      expect(report.keys).toMatchObject([{ uid: keyed, name: "keyed", groupName: "team", resource: null }]);
      const reach = {
        identity: ci,
        name: "ci",
        group: place.server.organization,
        binding: root,
        gains: ["repo.create"],
      };
      expect(report.roles).toMatchObject([{ name: "editor", added: ["repo.create"], removed: [], reaches: [reach] }]);
      expect({ pending: report.pending, unknown: report.unknown }).toEqual({ pending: [], unknown: [] });
    });

    const [format, reader] = form === "dynamic" ? ["terminal", "for people"] : ["markdown", "as Markdown for an issue"];
    it(`prints the same ${reader}, but for the pull tokens that are allowed as a class`, async () => {
      const { code, stdout } = await driftOf(program, "--format", format, "--allow", "pull-tokens");
      expect(code).toBe(3);
      expect(stdout).toMatch(/Drift of `?[\w/-]+`? in `?\w+`?: /);
      expect(stdout).toContain(
        "5 records differ, 1 record is gone, 2 grants that nothing declares, 1 built-in role changed, 1 static key ends; 1 pull token ends within 30 days",
      );
      expect(stdout).toMatch(/puller`? is `?registry\.pull`? at .*; allowed, and no difference/);
      expect(stdout).toContain("by hand");
      expect(stdout).not.toContain(SECRET);
    });

    it("tells a change of the program from one at the service", async () => {
      program.write(source(from).replace(`"groups.list", "repo.list"`, `"groups.list", "repo.list", "repo.create"`));
      const { stdout } = await driftOf(program, "--format", "json");
      const role = parse(stdout).drift.find(({ resource }) => resource.endsWith("::role"));
      expect(role?.differences).toContainEqual({
        path: "capabilities",
        program: "repo.create",
        live: null,
        changedIn: "program",
      });
    });

    it("exits with 1 if the program fails", async () => {
      program.write(source(from).replace(`"repo.list"`, `"repo.lst"`));
      const failed = await driftOf(program);
      expect(failed).toMatchObject({ code: 1, stdout: "" });
      expect(failed.stderr).toContain("irm drift: the preview has errors. Correct them first:");
    });
  },
);

describe("irm drift after a killed run", () => {
  const interrupted = interruptions();

  it("lists the create that the journal has, and on another machine the one that the engine's state has", async () => {
    const program = await interrupted.program("killed", sourceOf("killed"));
    const held = interrupted.proxy.hold("POST", /\/groups\//, "after");
    const run = program.start("up", "--yes", "--skip-preview");
    await interrupted.during(run, held);
    await interrupted.killEngine(run, (provider) => interrupted.kill(provider));
    held.release();
    await program.must("cancel", "--yes");
    const pendingOf = async () => {
      const { code, stdout, stderr } = await driftOf(program, "--format", "json");
      expect(code, stderr).toBe(3);
      return parse(stdout).pending;
    };
    const create = {
      logicalName: "killed",
      kind: "group",
      name: "killed",
      group: interrupted.place.server.organization,
    };
    const resource = expect.stringMatching(/::killed$/);
    expect(await pendingOf()).toMatchObject([{ ...create, resource, source: "journal", time: expect.any(String) }]);
    rmSync(join(interrupted.place.folder, "journal"), { recursive: true });
    expect(await pendingOf()).toMatchObject([{ ...create, resource, source: "state", time: null }]);
    await program.must("cancel", "--yes");
  });
});
