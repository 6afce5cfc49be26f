// Adoption through the engine: what the preview says, what an update changes, what stays. Also renames of a logical name, which
// are harmless with adoption or aliases.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DriftReport } from "../../access/format/drift.ts";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { driftOf } from "../harness/irm-command.ts";

describe("adoption", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace(["--unique-role-bindings"]);
  });
  afterAll(() => place.close());

  const env = () => ({ ORG: place.server.organization });
  const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation);
  const make = async (path: string, body: object): Promise<string> => {
    const { status, json } = await place.call("POST", `/iam/v2beta1/${path}`, body);
    expect(status, JSON.stringify(json)).toBe(200);
    return json.uid as string;
  };
  const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
  const viewer = async (): Promise<string> => {
    const { json } = await place.call("GET", "/iam/v2beta1/roles?name=viewer&uidp.inRoot=true");
    return (json.roles as { uid: string }[])[0]?.uid as string;
  };

  it("adopts a record of each kind: shown in the preview, changed where it differs, left in place", async () => {
    const org = place.server.organization;
    const team = await make(`groups/${org}`, { name: "team", description: "old" });
    const hidden = await make(`groups/${org}`, { name: "for our eyes" });
    const lasting = await make(`groups/${org}`, { name: "lasting" });
    const ci = await make(`identities/${team}`, { name: "ci", description: "unknown", claimMatch });
    const role = await make(`roles/${team}`, { name: "own", capabilities: ["CAP_IAM_GROUPS_LIST"] });
    const binding = await make(`roleBindings/${team}`, { identityUid: ci, roleUid: role });
    const guest = `new Identity("guest", { parent: team, name: "guest", claimMatch: { issuer: "https://issuer.example", subject: secret("kept secret") } });`;
    const source = ({ adopts = false, renames = false, last = "" }) => {
      const each = adopts ? `, adopt: "match"` : "";
      const name = renames ? "changed" : "lasting";
      return `
import { secret } from "@pulumi/pulumi";
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team", description: "new"${adopts ? `, adopt: "${team}"` : ""} });
new Group("hidden", { parent: process.env.ORG!, name: secret("for our eyes")${each} });
new Group("lasting", { parent: process.env.ORG!, name: "${name}"${each} });
const ci = new Identity("ci", { parent: team, name: "ci", description: secret("between us"), claimMatch: ${JSON.stringify(claimMatch)}${each} });
const role = new Role("role", { parent: "${team}", name: "own", capabilities: ["groups.list", "repo.list"]${each}${last} });
new RoleBinding("binding", { parent: team, identity: ci, role${each}${last} });
${last && guest}`;
    };
    const program = await place.program("kinds", source({ adopts: true }), env());
    await place.server.takeRequests();

    // The preview cannot search below a group that it does not know yet, so the update reports those records.
    const preview = await program.must("preview");
    expect(preview.output).toContain(`Group team takes over group ${team} "team"`);
    expect(preview.output).toContain(`Group team changes on group ${team}:`);
    expect(preview.output).toContain(`- description: "old" becomes "new"`);
    expect(preview.output).toContain(`Group hidden takes over group ${hidden}`);
    expect(preview.output).toContain(`Role role takes over role ${role} "own"`);
    expect(preview.output).toContain(
      `- capabilities: ["CAP_IAM_GROUPS_LIST"] becomes ["CAP_IAM_GROUPS_LIST","CAP_REPO_LIST"]`,
    );
    expect(preview.output).not.toContain("RoleBinding binding adopts");
    expect(preview.output).not.toContain("for our eyes");
    expect(await writes()).toEqual([]);

    const up = await program.must("up", "--yes", "--skip-preview");
    expect((await writes()).sort()).toEqual(["UpdateGroup", "UpdateIdentity", "UpdateRole"]);
    expect(up.output).toContain(`Identity ci takes over identity ${ci} "ci"`);
    expect(up.output).toContain(`Identity ci changes on identity ${ci}:\n      - description\n`);
    expect(up.output).toContain(`RoleBinding binding takes over role binding ${binding}: identity "ci", role "own"`);
    const { resources } = program.state();
    const own = resources.filter(({ type }) => !type.endsWith(":RoleBinding"));
    expect(preview.output + up.output + JSON.stringify(own)).not.toMatch(/between us|for our eyes/);
    const adopted = resources.filter(({ outputs }) => outputs?.adopted === true).map(({ id }) => id as string);
    expect(adopted.sort()).toEqual([team, hidden, lasting, ci, role, binding].sort());
    expect(place.rows("identities", "uid = ?", ci)[0]?.body.description).toBe("between us");

    // The argument has done its work: it can stay, also where nothing matches any more, or be removed.
    program.write(source({ adopts: true, renames: true }));
    expect((await program.must("preview", "--diff")).output).toContain('- name "lasting" becomes "changed"');
    program.write(source({}));
    await program.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    program.write(source({ renames: true, last: ", deleteAdopted: true" }));
    await program.must("up", "--yes", "--skip-preview");
    expect((await writes()).sort()).toEqual(["CreateIdentity", "UpdateGroup"]);
    expect(place.rows("groups", "uid = ?", lasting)[0]?.name).toBe("changed");
    // The engine calls it a deletion. An inline program of the Automation API does not report what leaves the stack.
    program.write('import "pulumi-irm";');
    const removal = await program.commandLine.must("preview", "--diff");
    expect(removal.output).toContain(`Group team is no longer in the program: group ${team} was adopted and stays`);
    expect(removal.output).toContain('RoleBinding binding is removed: identity "ci", role "own", group "team"');
    expect(removal.output).not.toContain("Role role is not in the program");
    expect(removal.output).toMatch(/Identity guest is removed:[^:]*\n +- who could assume it: \[secret\]\n/);
    expect(removal.output).not.toContain("kept secret");
    expect(removal.output).toContain('onDelete   : "the adopted record stays"');
    expect(removal.output).toContain('onDelete     : "deletes the adopted record"');
    const destroy = await program.must("destroy", "--yes", "--skip-preview");
    expect(destroy.output).toContain(`group ${team} "team" was adopted and is left in place`);
    expect((await writes()).sort()).toEqual(["DeleteIdentity", "DeleteRole", "DeleteRoleBinding"]);
    for (const uid of [team, hidden, lasting]) expect(place.rows("groups", "uid = ?", uid)).toHaveLength(1);
    expect(place.rows("identities", "uid = ?", ci)).toHaveLength(1);
  });

  it("creates the record again that somebody has deleted, with every command, and sends no POST for a uid that the stack never had", async () => {
    const org = place.server.organization;
    const ci = await make(`identities/${org}`, { name: "deleted", claimMatch });
    const role = await viewer();
    const uid = await make(`roleBindings/${org}`, { identityUid: ci, roleUid: role });
    const source = (adopt: string, ...more: string[]) => `import { RoleBinding } from "pulumi-irm";
const binding = { parent: process.env.ORG!, identity: "${ci}", role: "viewer" };
new RoleBinding("kept", { ...binding, adopt: "${adopt}" });${more.join("")}`;
    const program = await place.program("deleted", source(uid), env());
    // A plain `pulumi up` looks at no record without it.
    const project = join(program.folder, "Pulumi.yaml");
    const own = readFileSync(project, "utf8");
    await program.must("up", "--yes", "--skip-preview");
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${uid}`);
    const { json } = await place.call("GET", "/iam/v2beta1/roles?name=owner&uidp.inRoot=true");
    const owner = (json.roles as { uid: string }[])[0]?.uid;
    const planted = await make(`roleBindings/${org}`, { identityUid: ci, roleUid: owner });
    await place.server.takeRequests();

    // Not a refresh: the state has the record.
    await program.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    const drift = await driftOf(program, "--format", "json");
    expect(drift, drift.stderr).toMatchObject({ code: 3 });
    const report = JSON.parse(drift.stdout) as DriftReport;
    expect(report.drift).toMatchObject([{ change: "gone", uid, kind: "role binding", name: "deleted as viewer" }]);
    expect(report.undeclared).toContainEqual(expect.objectContaining({ uid: planted, role: "owner" }));
    expect(await writes()).toEqual([]);

    writeFileSync(project, `${own}options:\n  refresh: always\n`);
    const up = await program.must("up", "--yes", "--skip-preview");
    const again = `RoleBinding kept creates its role binding again: ${uid}, which it had adopted, was deleted`;
    expect(up.output).toContain(again);
    expect(await writes()).toEqual(["CreateRoleBinding"]);
    await program.must("preview", "--expect-no-changes");

    // Once more, with a refresh that is a command of its own.
    const [row] = place.rows("role_bindings", "identity_uid = ? AND role_uid = ?", ci, role);
    await place.call("DELETE", `/iam/v2beta1/roleBindings/${row?.uid}`);
    await program.must("refresh", "--yes", "--skip-preview");
    await place.server.takeRequests();
    expect((await program.must("up", "--yes", "--skip-preview")).output).toContain(again);
    expect(await writes()).toEqual(["CreateRoleBinding"]);

    const mistyped = `${org}/00000000000000ab`;
    program.write(source(uid, `new RoleBinding("wrong", { ...binding, role: "editor", adopt: "${mistyped}" });`));
    const refused = await program.run("up", "--yes", "--skip-preview");
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain(`no role bindings with the uid ${mistyped}; exactly one is needed`);
    // It hides nothing else.
    const other = await driftOf(program, "--format", "json");
    expect(other, other.stderr).toMatchObject({ code: 3 });
    const { undeclared, unknown } = JSON.parse(other.stdout) as DriftReport;
    expect(undeclared).toContainEqual(expect.objectContaining({ uid: planted, role: "owner" }));
    const message = `adopt of RoleBinding::wrong names no record: no role bindings with the uid ${mistyped}; exactly one is needed`;
    expect(unknown).toEqual([{ subject: "", message }]);
    expect(await writes()).toEqual([]);
  });

  it("by match needs exactly one record: the preview fails for none or several, and lists them", async () => {
    const org = place.server.organization;
    const twins = [await make(`groups/${org}`, { name: "twin" }), await make(`groups/${org}`, { name: "twin" })];
    const source = ["nobody", "twin"].map(
      (name) => `new Group("${name}", { parent: process.env.ORG!, name: "${name}", adopt: "match" });`,
    );
    const program = await place.program("match", `import { Group } from "pulumi-irm";\n${source.join("\n")}`, env());
    await place.server.takeRequests();
    const { code, output } = await program.commandLine.run("preview");
    expect(code).not.toBe(0);
    expect(output).toContain(
      `Group resource 'nobody' has a problem: adopt: no groups that match in ${org}; exactly one is needed`,
    );
    expect(output).toContain(`Group twin: adopt: 2 groups that match in ${org}; exactly one is needed`);
    for (const uid of twins) expect(output).toContain(`- ${uid} twin`);
    // A message, without the stack of our own code.
    expect(output).not.toMatch(/\bat .*adopt\.(ts|js)/);
    expect(await writes()).toEqual([]);
  });

  it("or an alias makes a changed logical name harmless, and never takes a record that the stack manages", async () => {
    const org = place.server.organization;
    const ci = await make(`identities/${org}`, { name: "renamed", claimMatch });
    const role = await viewer();
    const stack = (...resources: string[]) => `import { Group, RoleBinding } from "pulumi-irm";\n${resources.join("")}`;
    const owner = `const owner = new Group("owner", { parent: process.env.ORG!, name: "taken" });\n`;
    const binding = (name: string, args = "", opts = "") =>
      `new RoleBinding("${name}", { parent: process.env.ORG!, identity: "${ci}", role: "${role}"${args} }${opts});\n`;
    const program = await place.program("taken", stack(owner, binding("first")), env());
    await program.must("up", "--yes", "--skip-preview");
    const [taken] = place.rows("groups", "name = ?", "taken");
    const [row] = place.rows("role_bindings", "identity_uid = ?", ci);
    await place.server.takeRequests();

    // The record of another resource of the stack, and a changed logical name without either.
    const thief = `{ parent: process.env.ORG!, name: "taken", description: "stolen", adopt: "${taken?.uid}" }`;
    program.write(stack(owner, `new Group("thief", ${thief}, { dependsOn: owner });\n`, binding("second")));
    const refused = await program.run("up", "--yes", "--skip-preview", "--continue-on-error");
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain(`group ${taken?.uid} is already managed by organization/taken/dev/Group::owner`);
    expect(refused.output).toContain("ALREADY_EXISTS");
    expect(refused.output).toContain('If that record is meant, take it over with adopt: "match" (or its uid)');
    expect(refused.output).toContain("if this resource had another name before, declare that name in aliases");
    expect(place.rows("groups", "name = ?", "taken")).toEqual([taken]);
    expect(place.rows("role_bindings", "identity_uid = ?", ci).map(({ uid }) => uid)).toEqual([row?.uid]);
    await place.server.takeRequests();

    program.write(stack(owner, binding("second", "", `, { aliases: [{ name: "first" }] }`)));
    await program.must("up", "--yes", "--skip-preview");
    program.write(stack(owner, binding("third", `, adopt: "match"`)));
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain(`${row?.uid} (renamed as viewer) stays: another resource of this stack manages it`);
    expect(await writes()).toEqual([]);
    expect(place.rows("role_bindings", "identity_uid = ?", ci).map(({ uid }) => uid)).toEqual([row?.uid]);

    // Nothing is left to do. The owner deletes the record that the thief could not adopt.
    program.write(stack(binding("third", `, adopt: "match"`)));
    expect((await program.must("up", "--yes", "--skip-preview")).output).toMatch(/- 1 deleted\n +2 unchanged/);
    expect(await writes()).toEqual(["DeleteGroup"]);
    expect(place.rows("groups", "name = ?", "taken")).toEqual([]);
  });
});
