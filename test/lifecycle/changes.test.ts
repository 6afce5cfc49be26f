// Changes beyond a PATCH: replacement and its refusal, renamed declarations, swapped roles, bad input.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Workplace } from "../harness/engine-workplace.ts";
import { diagnosticsOf } from "../support/diagnostics.ts";

describe("a change that is more than an update", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const env = () => ({ ORG: place.server.organization });
  const operations = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation);

  const tree = (parent: string, extra = "") => `
import { getRole, Group, Identity, RoleBinding } from "pulumi-irm";
const a = new Group("a", { parent: process.env.ORG!, name: "a" });
const b = new Group("b", { parent: process.env.ORG!, name: "b" });
const child = new Group("child", { parent: ${parent}, name: "child"${extra} });
const ci = new Identity("ci", { parent: a, name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
new RoleBinding("binding", { parent: ${parent}, identity: ci, role: getRole({ name: "viewer" }).then((r) => r.uid) });
`;

  it("refuses to move a group in the preview, and says how to allow it", async () => {
    const program = await place.program("move", tree("a"), env());
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
    program.write(tree("b"));
    const refused = await program.run("preview");
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("allowReplace");
    expect(await operations()).toEqual([]);

    program.write(tree("b", ", allowReplace: true"));
    await program.must("up", "--yes", "--skip-preview");
    // The new one exists before the old one goes; the binding moves with its parent.
    const made = await operations();
    expect(made.filter((name) => name !== "CreateRoleBinding" && name !== "DeleteRoleBinding")).toEqual([
      "CreateGroup",
      "DeleteGroup",
    ]);
    expect(made.indexOf("CreateRoleBinding")).toBeLessThan(made.indexOf("DeleteRoleBinding"));
    const [b] = place.rows("groups", "name = ?", "b");
    expect(place.rows("groups", "name = ?", "child").map(({ parent }) => parent)).toEqual([b?.uid]);
    expect(place.rows("role_bindings", "parent = ?", b?.uid as string)).toHaveLength(1);
  });

  const bindings = (one: string, two: string, [first, second] = ["one", "two"]) => `
import { secret } from "@pulumi/pulumi";
import { getRole, Group, Identity, RoleBinding } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: secret("between us") });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://issuer.example", subject: secret("for our eyes") } });
const one = new RoleBinding("${first}", { parent: team, identity: ci, role: "${one}" });
new RoleBinding("${second}", { parent: team, identity: ci, role: getRole({ name: "${two}" }).then(({ uid }) => uid) });
export const granted = one.role.name;
export const parent = one.parent;
`;

  it("swaps two roles between two bindings by two PATCHes", async () => {
    const program = await place.program("swap", bindings("viewer", "editor"), env(), { ownProcess: true });
    const first = await program.must("up", "--yes", "--skip-preview");
    for (const [name, role] of [
      ["one", "viewer"],
      ["two", "editor"],
    ])
      expect(first.output).toContain(`RoleBinding ${name} is new: identity "ci", role "${role}", group [secret]\n`);
    const { resources, text } = program.state();
    expect(text + first.output).not.toMatch(/between us|for our eyes/);
    const uid = place.rows("groups", "name = ?", "between us")[0]?.uid as string;
    expect(resources.find(({ urn }) => urn.endsWith("Stack::swap-dev"))?.outputs).toEqual({
      granted: "viewer",
      parent: uid,
    });
    const binding = resources.find(({ urn }) => urn.endsWith("::one"));
    expect(binding?.inputs).toMatchObject({ role: "viewer", parent: uid });
    expect(binding?.inputs).not.toHaveProperty("names");
    expect(binding?.outputs).toMatchObject({ group: { uid }, identity: { name: "ci" }, role: { name: "viewer" } });
    await place.server.takeRequests();
    program.write(bindings("editor", "viewer"));
    const swapped = await program.must("up", "--yes", "--skip-preview");
    expect(swapped.output).toContain(
      'RoleBinding one changes: identity "ci", role "viewer" becomes "editor", group [secret]\n',
    );
    expect(swapped.output).toContain(
      'RoleBinding two changes: identity "ci", role "editor" becomes "viewer", group [secret]\n',
    );
    expect(await operations()).toEqual(["UpdateRoleBinding", "UpdateRoleBinding"]);
    expect(
      place
        .rows("role_bindings", "parent = ?", uid)
        .map(({ role_uid }) => role_uid as string)
        .sort(),
    ).toHaveLength(2);
    const another = `new RoleBinding("another", { parent: process.env.ORG!, identity: ci, role: "editr" });\n`;
    program.write(bindings("editr", "viewer") + another);
    const misspelt = await program.run("preview");
    expect(misspelt.code).not.toBe(0);
    const [, ...lines] = diagnosticsOf(misspelt.output).split(
      'error: no built-in role is named "editr"; did you mean editor?\n',
    );
    expect(lines[0]?.split("\n", 2).map((line) => line.trim())).toEqual([
      "- RoleBinding one: role",
      "- RoleBinding another: role",
    ]);
    expect(lines).toHaveLength(1);

    // The binding is not registered, and yet stays.
    const failed = await program.run("up", "--yes", "--skip-preview");
    expect(failed.code).not.toBe(0);
    expect(await operations()).toEqual([]);

    // A logical name that changed: the new binding is there before the old one goes, so access is never interrupted.
    program.write(bindings("editor", "viewer", ["renamed", "two"]));
    await program.must("up", "--yes", "--skip-preview");
    expect(await operations()).toEqual(["CreateRoleBinding", "DeleteRoleBinding"]);
  });

  it("shows all mistakes of a resource at once in the preview, and sends no request", async () => {
    const program = await place.program(
      "invalid",
      `
import { Group } from "pulumi-irm";
new Group("lost", { parent: undefined as unknown as string, name: "Bad Name", description: "two\\nlines" });
`,
      env(),
    );
    await place.server.takeRequests();
    const preview = await program.run("preview");
    expect(preview.code).not.toBe(0);
    for (const text of ["root: true", 'name must match "^[a-z0-9 ._-]{1,}$"', "description must match"])
      expect(preview.output).toContain(text);
    expect(await place.server.takeRequests()).toEqual([]);
  });

  it("does not treat an unknown value in a preview as an error", async () => {
    const program = await place.program(
      "unknown",
      `
import { Group } from "pulumi-irm";
const first = new Group("first", { parent: process.env.ORG!, name: "first" });
new Group("second", { parent: first, name: first.uid.apply((uid) => "second " + uid.slice(0, 4)), description: first.createTime });
`,
      env(),
    );
    await place.server.takeRequests();
    // With its preview.
    await program.must("up", "--yes");
    expect(await operations()).toEqual(["CreateGroup", "CreateGroup"]);
  });
});
