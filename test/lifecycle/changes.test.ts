// Changes beyond a PATCH: replacement in the order of its options and its refusal, records that are read, and renamed declarations.
import { describe, expect, it } from "vitest";
import { openWorkplace } from "./place.ts";

describe("a change that is more than an update", () => {
  const place = openWorkplace();

  it("replaces in the order of the options, moves a group only with allowReplace, and never deletes what is read by its uid", async () => {
    const { organization } = place.server;
    const outside = await place.create(`groups/${organization}`, { name: "outside" });
    const claimMatch = { issuer: "https://issuer.example", subject: "ci" };
    const ci = await place.create(`identities/${outside}`, { name: "ci", claimMatch });
    const source = (name: string, [views, above]: string[], allowed = "") => `
import { getRole, Group, Identity, RoleBinding } from "pulumi-irm";
const outside = Group.get("outside", "${outside}");
const ci = Identity.get("ci", "${ci}");
const [a, b] = ["a", "b"].map((name) => new Group(name, { parent: outside, name }));
const team = new Group("team", { parent: outside, name: "${name}" }, { replaceOnChanges: ["name"] });
new Group("child", { parent: ${above}, name: "child"${allowed} });
const role = getRole({ name: "viewer" }).then(({ uid }) => uid);
new RoleBinding("views", { parent: ${views}, identity: ci, role }, { deleteBeforeReplace: true });
new RoleBinding("moves", { parent: ${above}, identity: ci, role });
export const subject = ci.claimMatch.apply((match) => match?.subject);
`;
    const program = await place.program("limits", source("old", ["outside", "a"]));
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toMatch(/subject: "ci"/);
    expect(up.output).toContain("+ 7 created");

    program.write(source("new", ["team", "b"]));
    await place.server.takeRequests();
    const moved = await program.run("preview");
    expect(moved.code).not.toBe(0);
    expect(moved.output).toContain("allowReplace");
    expect(await place.writes()).toEqual([]);

    program.write(source("new", ["team", "b"], ", allowReplace: true"));
    const replaced = await program.must("up", "--refresh", "--yes", "--skip-preview");
    expect(replaced.output).toContain("+-4 replaced");
    const nameOf = new Map(place.rows("groups").map(({ uid, name }) => [uid, name]));
    const done = (await place.writes()).map(({ operation, path }) => {
      const uid = path.split("/").slice(4).join("/");
      return `${operation} ${nameOf.get(uid) ?? nameOf.get(uid.replace(/\/[^/]*$/, ""))}`;
    });
    const order = (...steps: string[]) => done.filter((step) => steps.includes(step));
    const views = ["DeleteRoleBinding outside", "CreateRoleBinding new"];
    expect(order(...views)).toEqual(views);
    const moves = ["CreateRoleBinding b", "DeleteRoleBinding a"];
    expect(order(...moves)).toEqual(moves);
    expect(done.filter((step) => step.includes("Group")).map((step) => step.replace(/ .*/, ""))).toEqual([
      ...["CreateGroup", "CreateGroup"],
      ...["DeleteGroup", "DeleteGroup"],
    ]);
    expect(place.rows("groups", "name = 'child'").map(({ parent }) => parent)).toEqual([place.uidOf("groups", "b")]);

    await program.must("destroy", "--yes", "--skip-preview");
    const left = place.rows("groups", "parent IS NOT NULL").map(({ uid }) => uid);
    expect(left).toEqual([outside]);
    expect(place.rows("identities", "uid = ?", ci)).toHaveLength(1);
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

  it("swaps two roles between two bindings by two PATCHes, and shows no name that is secret", async () => {
    const env = { ORG: place.server.organization };
    const program = await place.program("swap", bindings("viewer", "editor"), env, { ownProcess: true });
    const first = await program.must("up", "--yes", "--skip-preview");
    for (const [name, role] of Object.entries({ one: "viewer", two: "editor" }))
      expect(first.output).toContain(`RoleBinding ${name} is new: identity "ci", role "${role}", group [secret]\n`);
    const { resources, text } = program.state();
    expect(text + first.output).not.toMatch(/between us|for our eyes/);
    const uid = place.uidOf("groups", "between us");
    const stack = resources.find(({ urn }) => urn.endsWith("Stack::swap-dev"));
    expect(stack?.outputs).toEqual({ granted: "viewer", parent: uid });
    const binding = resources.find(({ urn }) => urn.endsWith("::one"));
    expect(binding?.inputs).toMatchObject({ role: "viewer", parent: uid });
    expect(binding?.inputs).not.toHaveProperty("names");
    expect(binding?.outputs).toMatchObject({ group: { uid }, identity: { name: "ci" }, role: { name: "viewer" } });
    await place.server.takeRequests();

    program.write(bindings("editor", "viewer"));
    const swapped = await program.must("up", "--yes", "--skip-preview");
    for (const [name, role] of Object.entries({ one: '"viewer" becomes "editor"', two: '"editor" becomes "viewer"' }))
      expect(swapped.output).toContain(`RoleBinding ${name} changes: identity "ci", role ${role}, group [secret]\n`);
    expect(await place.operations()).toEqual(["UpdateRoleBinding", "UpdateRoleBinding"]);
    expect(new Set(place.rows("role_bindings", "parent = ?", uid).map(({ role_uid }) => role_uid)).size).toBe(2);

    // A logical name that changed: the new binding is there before the old one goes, so access is never interrupted.
    program.write(bindings("editor", "viewer", ["renamed", "two"]));
    await program.must("up", "--yes", "--skip-preview");
    expect(await place.operations()).toEqual(["CreateRoleBinding", "DeleteRoleBinding"]);
  });
});
