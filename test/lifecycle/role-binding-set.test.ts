// A set of role bindings through a real engine: names in the preview, a move from RoleBindings and back, and an exclusive set.
// test/provider/set has the rest.
import { beforeAll, describe, expect, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { openWorkplace } from "./place.ts";

const SUBJECTS = ["ci", "deploy", "audit"];

const source = (declarations: string) => `
import { Group, Identity, Role, RoleBinding, RoleBindingSet } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team" });
const identity = (name: string) =>
  new Identity(name, { parent: team, name, claimMatch: { issuer: "https://issuer.example", subject: name } });
const [ci, deploy, audit] = [${SUBJECTS.map((name) => `identity("${name}")`).join(", ")}];
const custom = new Role("custom", { parent: team, name: "custom", capabilities: ["groups.list"] });
void [RoleBinding, RoleBindingSet, ci, deploy, audit, custom];
${declarations}
`;

const set = (pairs: string, further = "") =>
  source(`const set = new RoleBindingSet("team", { parent: team, bindings: [${pairs}]${further} });
export const { bindings, unmanaged } = set;`);

const PAIRS = `{ identity: ci, role: "viewer" }, { identity: deploy, role: custom }`;

describe("a set of role bindings", () => {
  const place = openWorkplace();
  let program: Program;

  beforeAll(async () => {
    program = await place.program(
      "role-binding-set",
      source(`new RoleBinding("ci", { parent: team, identity: ci, role: "viewer" });
new RoleBinding("deploy", { parent: team, identity: deploy, role: custom });`),
      { ORG: place.server.organization },
    );
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });

  const bindings = () =>
    place.rows("role_bindings", "parent = ?", place.uidOf("groups", "team")).map(({ uid }) => uid as string);

  it("takes over what RoleBinding resources managed, in one up, and its preview names the pairs", async () => {
    const before = bindings();
    program.write(set(PAIRS));
    // An inline program of the Automation API does not report what leaves the stack.
    const preview = await program.commandLine.must("preview");
    expect(preview.output).not.toMatch(/is removed|is no longer in the program/);
    const lines =
      /RoleBindingSet team is new:\n +- takes over "ci" as "viewer", role binding (\S+)\n +- takes over "deploy" as "custom", role binding (\S+)/;
    const [, ...takenOver] = lines.exec(preview.output) ?? [];
    expect(before).toEqual(expect.arrayContaining(takenOver));
    const [summary = ""] = preview.output.split("Diagnostics:").slice(-1);
    for (const uid of takenOver) expect(summary.split(uid), "each is listed once").toHaveLength(2);
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("RoleBindingSet team: takes over role bindings that exist:");
    expect(bindings()).toEqual(before);
    expect(await place.operations()).toEqual([]);
  });

  it("is exclusive only for what a preview has shown", async () => {
    const body = {
      identityUid: place.uidOf("identities", "audit"),
      roleUid: place.rows("roles", "name = ?", "editor")[0]?.uid,
    };
    await place.create(`roleBindings/${place.uidOf("groups", "team")}`, body);
    program.write(set(PAIRS, ", exclusive: true"));
    await program.must("up", "--yes", "--skip-preview");
    expect(bindings()).toHaveLength(3);
    const preview = await program.must("preview");
    expect(preview.output).toContain('- removes "audit" as "editor", which the program does not declare');
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain(
      `{ identity: "${place.uidOf("identities", "audit")}", role: "${body.roleUid}" }, // "audit" as "editor"`,
    );
    expect(bindings()).toHaveLength(2);
  });

  it("gives its pairs back to RoleBindings without a gap, and is destroyed with all it manages", async () => {
    program.write(
      source(`new RoleBinding("ci", { parent: team, identity: ci, role: "viewer" });
new RoleBinding("deploy", { parent: team, identity: deploy, role: custom });`),
    );
    await place.server.takeRequests();
    const up = await program.must("up", "--yes", "--skip-preview");
    // Both in one request, if the engine creates them at the same time.
    const made = await place.operations();
    expect(made.slice(-2)).toEqual(["DeleteRoleBinding", "DeleteRoleBinding"]);
    expect([["BatchCreateRoleBindings"], ["CreateRoleBinding", "CreateRoleBinding"]]).toContainEqual(made.slice(0, -2));
    expect(up.output).toContain("to restore one, add its pair to bindings:");
    expect(bindings()).toHaveLength(2);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });
});
