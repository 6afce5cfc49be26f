// Adoption through the engine: what the preview says, what an update changes, what stays. test/provider/engine/adoption.test.ts has the rest.
import { expect, it } from "vitest";
import { openWorkplace } from "../harness/engine-workplace.ts";

const place = openWorkplace("--unique-role-bindings");

const claimMatch = { issuer: "https://issuer.example", subject: "ci" };

it("a record of each kind is adopted: shown in the preview, changed where it differs, left in place", async () => {
  const org = place.server.organization;
  const team = await place.create(`groups/${org}`, { name: "team", description: "old" });
  const hidden = await place.create(`groups/${org}`, { name: "for our eyes" });
  const lasting = await place.create(`groups/${org}`, { name: "lasting" });
  const ci = await place.create(`identities/${team}`, { name: "ci", description: "unknown", claimMatch });
  const role = await place.create(`roles/${team}`, { name: "own", capabilities: ["CAP_IAM_GROUPS_LIST"] });
  const binding = await place.create(`roleBindings/${team}`, { identityUid: ci, roleUid: role });
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
  const program = await place.program("kinds", source({ adopts: true }), { ORG: org });
  await place.server.takeRequests();

  const { output } = await program.must("up", "--yes");
  const [preview = ""] = output.split(/^Updating \(/m);
  for (const line of [
    `Group team adopts group ${team} "team"`,
    `Group team changes on group ${team}:`,
    `- description: "old" becomes "new"`,
    `Group hidden adopts group ${hidden}`,
    `Role role adopts role ${role} "own"`,
    `- capabilities: ["CAP_IAM_GROUPS_LIST"] becomes ["CAP_IAM_GROUPS_LIST","CAP_REPO_LIST"]`,
  ])
    expect(preview).toContain(line);
  expect((await place.operations()).sort()).toEqual(["UpdateGroup", "UpdateIdentity", "UpdateRole"]);
  for (const line of [
    `Identity ci adopts identity ${ci} "ci"`,
    `Identity ci changes on identity ${ci}:\n      - description\n`,
    `RoleBinding binding adopts role binding ${binding}: identity "ci", role "own"`,
  ])
    expect(output).toContain(line);
  const { resources } = program.state();
  const own = resources.filter(({ type }) => !type.endsWith(":RoleBinding"));
  expect(output + JSON.stringify(own)).not.toMatch(/between us|for our eyes/);
  const adopted = resources.filter(({ outputs }) => outputs?.adopted === true).map(({ id }) => id as string);
  expect(adopted.sort()).toEqual([team, hidden, lasting, ci, role, binding].sort());
  expect(place.rows("identities", "uid = ?", ci)[0]?.body.description).toBe("between us");

  // The argument has done its work, and can be removed.
  program.write(source({ renames: true, last: ", deleteAdopted: true" }));
  await program.must("up", "--yes", "--skip-preview");
  expect((await place.operations()).sort()).toEqual(["CreateIdentity", "UpdateGroup"]);
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
  expect((await place.operations()).sort()).toEqual(["DeleteIdentity", "DeleteRole", "DeleteRoleBinding"]);
  for (const uid of [team, hidden, lasting]) expect(place.rows("groups", "uid = ?", uid)).toHaveLength(1);
  expect(place.rows("identities", "uid = ?", ci)).toHaveLength(1);
});
