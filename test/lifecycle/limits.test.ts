// The options and functions of the engine in docs/limits.md, through the engine.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { countOf, diagnosticsOf } from "../support/diagnostics.ts";

describe("resources of a stack", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  it("are read by uid and never deleted, are replaced in the order of their options, and explain impossible options", async () => {
    const { organization } = place.server;
    const { json: outside } = await place.call("POST", `/iam/v2beta1/groups/${organization}`, { name: "outside" });
    const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
    const { json: ci } = await place.call("POST", `/iam/v2beta1/identities/${outside.uid}`, { name: "ci", claimMatch });
    const source = (name: string, where: string, last = "") => `
import { getRole, Group, Identity, RoleBinding } from "pulumi-irm";
const outside = Group.get("outside", "${outside.uid}");
const ci = Identity.get("ci", "${ci.uid}");
const team = new Group("team", { parent: outside, name: "${name}" }, { replaceOnChanges: ["name"] });
const role = getRole({ name: "viewer" }).then(({ uid }) => uid);
new RoleBinding("views", { parent: ${where}, identity: ci, role }, { deleteBeforeReplace: true });
export const subject = ci.claimMatch.apply((match) => match?.subject);
${last}
`;
    const program = await place.program("limits", source("old", "outside"));
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toMatch(/subject: "ci"/);
    expect(up.output).toContain("+ 3 created");

    program.write(source("new", "team"));
    await place.server.takeRequests();
    const replaced = await program.must("up", "--refresh", "--yes", "--skip-preview");
    expect(replaced.output).toContain("+-2 replaced");
    const writes = writesOf(await place.server.takeRequests()).map(({ operation }) => operation);
    expect(writes.filter((operation) => operation?.endsWith("RoleBinding"))).toEqual([
      "DeleteRoleBinding",
      "CreateRoleBinding",
    ]);
    expect(writes.filter((operation) => operation?.endsWith("Group"))).toEqual(["CreateGroup", "DeleteGroup"]);

    const imported = `new Group("imported", { parent: outside, name: "x" }, { import: "${outside.uid}" });`;
    program.write(source("new", "team", imported));
    const refused = await program.commandLine.run("preview");
    expect(refused.code).not.toBe(0);
    const sentence = "Group imported: the option import does not work for dynamic resources; take the record over with";
    expect(countOf(diagnosticsOf(refused.output), sentence)).toBe(1);

    await program.must("destroy", "--yes", "--skip-preview");
    expect(writesOf(await place.server.takeRequests()).map(({ operation }) => operation)).toEqual([
      "DeleteRoleBinding",
      "DeleteGroup",
    ]);
    expect(place.rows("groups", "uid = ?", outside.uid as string)).toHaveLength(1);
    expect(place.rows("identities", "uid = ?", ci.uid as string)).toHaveLength(1);
  });
});
