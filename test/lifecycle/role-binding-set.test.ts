// A set of role bindings through a real engine: names in the preview, a move from RoleBindings and back, and an exclusive set.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { pullTokenKeys } from "../harness/pull-token.ts";

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
  let place: Workplace;
  let program: Program;

  beforeAll(async () => {
    place = await createWorkplace();
    program = await place.program(
      "role-binding-set",
      source(`new RoleBinding("ci", { parent: team, identity: ci, role: "viewer" });
new RoleBinding("deploy", { parent: team, identity: deploy, role: custom });`),
      { ORG: place.server.organization },
    );
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });
  afterAll(() => place.close());

  const teamUid = () => place.rows("groups", "name = ?", "team")[0]?.uid as string;
  const identityUid = (name: string) => place.rows("identities", "name = ?", name)[0]?.uid as string;
  const bindings = () => place.rows("role_bindings", "parent = ?", teamUid()).map(({ uid }) => uid as string);
  const writes = async () => writesOf(await place.server.takeRequests()).map(({ operation }) => operation);

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
    expect(await writes()).toEqual([]);
    expect((await program.must("preview", "--expect-no-changes", "--refresh")).code).toBe(0);
  });

  it("is exclusive only for what a preview has shown", async () => {
    const body = { identityUid: identityUid("audit"), roleUid: place.rows("roles", "name = ?", "editor")[0]?.uid };
    const { status, json } = await place.call("POST", `/iam/v2beta1/roleBindings/${teamUid()}`, body);
    expect(status, JSON.stringify(json)).toBe(200);
    const expirationTime = new Date(Date.now() + 20 * 24 * 60 * 60 * 1000).toISOString();
    const token = { name: "cluster", staticKeys: pullTokenKeys("cluster", expirationTime) };
    const { json: created } = await place.call("POST", `/iam/v2beta1/identities/${place.server.organization}`, token);
    const pull = place.rows("roles", "name = ?", "registry.pull")[0]?.uid;
    await place.call("POST", `/iam/v2beta1/roleBindings/${teamUid()}`, { identityUid: created.uid, roleUid: pull });
    program.write(set(PAIRS, ", exclusive: true"));
    await program.must("up", "--yes", "--skip-preview");
    expect(bindings()).toHaveLength(4);
    const preview = await program.must("preview");
    expect(preview.output).toContain('- removes "audit" as "editor", which the program does not declare');
    expect(preview.output).toContain(
      `- removes "cluster" as "registry.pull", a pull token that ends ${expirationTime}, not used yet, which the program`,
    );
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain(
      `{ identity: "${identityUid("audit")}", role: "${body.roleUid}" }, // "audit" as "editor"`,
    );
    expect(bindings()).toHaveLength(2);
  });

  it("and a RoleBinding in its group are an error of the preview, which names both", async () => {
    program.write(`${set(PAIRS, ", exclusive: true")}
new RoleBinding("audit", { parent: team, identity: audit, role: "viewer" });`);
    const preview = await program.run("preview");
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain(
      "RoleBinding audit: parent: RoleBinding audit is in the group of RoleBindingSet team, which is exclusive and would remove it",
    );
  });

  it("gives its pairs back to RoleBindings without a gap, and is destroyed with all it manages", async () => {
    program.write(
      source(`new RoleBinding("ci", { parent: team, identity: ci, role: "viewer" });
new RoleBinding("deploy", { parent: team, identity: deploy, role: custom });`),
    );
    await place.server.takeRequests();
    const up = await program.must("up", "--yes", "--skip-preview");
    // Both in one request, if the engine creates them at the same time.
    const made = await writes();
    expect(made.slice(-2)).toEqual(["DeleteRoleBinding", "DeleteRoleBinding"]);
    expect([["BatchCreateRoleBindings"], ["CreateRoleBinding", "CreateRoleBinding"]]).toContainEqual(made.slice(0, -2));
    expect(up.output).toContain("to restore one, add its pair to bindings:");
    expect(bindings()).toHaveLength(2);
    program.write(set(PAIRS));
    await program.must("up", "--yes", "--skip-preview");
    program.write(source(`new RoleBinding("ci", { parent: team, identity: ci, role: "viewer", adopt: "match" });`));
    const { output } = await program.commandLine.must("preview");
    expect(output).toMatch(/RoleBindingSet team is removed:\n +- removes "deploy" as "custom"\n/);
    const [summary = ""] = output.split("Diagnostics:").slice(-1);
    expect(summary.match(/identity "ci"|"ci" as/g), "each is listed once").toEqual(['identity "ci"']);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups", "name = ?", "team")).toEqual([]);
  });
});
