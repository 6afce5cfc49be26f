// Native resources of a TypeScript program through a real engine: what dynamic ones cannot do, and what both do.
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { writesOf } from "../../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../../harness/engine-workplace.ts";

interface Step {
  op: string;
  urn: string;
  detailedDiff?: Record<string, { kind: string }>;
}

const source = ({
  description = "Builds things",
  capabilities = `"groups.list"`,
  role = "viewer",
  options = "",
  further = "",
} = {}) => `
import { Group, Identity, Role, RoleBinding, getRoleOutput } from "pulumi-irm/plugin";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "team", description: "${description}" });
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch }, { ${options} });
const custom = new Role("custom", { parent: team, name: "custom", capabilities: [${capabilities}] });
new Group("dated", { parent: team, name: "dated", description: team.createTime });
new RoleBinding("built-in", { parent: team, identity: ci, role: "${role}" });
new RoleBinding("own", { parent: team, identity: ci, role: custom });
export const viewer = getRoleOutput({ name: "viewer" }).name;
export const bound = custom.uid;
${further}
`;

describe("native resources of a program", () => {
  let place: Workplace;
  let program: Program;
  let legacy: string;
  beforeAll(async () => {
    place = await createWorkplace();
    const path = `/iam/v2beta1/groups/${place.server.organization}`;
    const { json } = await place.call("POST", path, { name: "legacy", description: "By hand" });
    legacy = json.uid as string;
    await place.call("POST", `/iam/v2beta1/groups/${legacy}`, { name: "below" });
    const env = { ORG: place.server.organization };
    program = await place.program("native", source(), env, { plugin: inject("pluginFolder") });
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });
  afterAll(() => place.close());

  const writes = async () =>
    writesOf(await place.server.takeRequests()).map(({ operation, query, fields }) => [
      operation,
      query?.updateMask ?? fields,
    ]);
  const preview = async () => {
    const { stdout } = await program.must("preview", "--json");
    const { steps } = JSON.parse(stdout) as { steps: Step[] };
    return steps.filter(({ op, urn }) => op !== "same" && urn.includes("irm:index:"));
  };
  const shown = (steps: Step[]) =>
    Object.fromEntries(
      steps.map(({ op, urn, detailedDiff = {} }) => [
        `${op} ${urn.replace(/^.*::/, "")}`,
        Object.entries(detailedDiff).map(([path, { kind }]) => `${path} ${kind}`),
      ]),
    );

  it("show each property that changes, and keep the outputs that do not", async () => {
    const change = { description: "Builds", capabilities: `"groups.list", "repo.list"`, role: "editor" };
    program.write(
      source({ ...change, options: `replaceOnChanges: ["claimMatch.subject"]` }).replace('"ci" };', '"cd" };'),
    );
    // The description of the group below, which is an output, is known.
    expect(shown(await preview())).toEqual({
      "update team": ["description update"],
      "update custom": ["capabilities[1] add"],
      "update built-in": ["identity update", "role update"],
      "update own": ["identity update"],
      "replace ci": ["claimMatch.subject update-replace"],
    });
    await program.must("up", "--yes", "--skip-preview");
    const sent = await writes();
    expect(sent).toContainEqual(["UpdateGroup", "description"]);
    expect(sent).toContainEqual(["UpdateRole", "capabilities"]);
    expect(sent.filter(([operation]) => operation === "CreateIdentity")).toHaveLength(1);
    expect(place.rows("identities", "name = ?", "ci").map(({ body }) => body.claimMatch)).toEqual([
      { issuer: "https://issuer.example.com", subject: "cd" },
    ]);
  });

  it("report the mistakes of a resource in the preview, each at its property", async () => {
    program.write(source({ further: `new RoleBinding("wrong", { parent: team, identity: "ci", role: "vewer" });` }));
    const { code, output } = await program.run("preview");
    expect(code).not.toBe(0);
    expect(output).toContain(
      "irm:index:RoleBinding resource 'wrong': property identity value {ci} has a problem: must be a uid",
    );
    expect(output).toContain('no built-in role is named "vewer"; did you mean viewer?');
  });

  it("take over existing records by the option import, and by adopt", async () => {
    const further = `
const legacy = new Group("legacy", { parent, name: "legacy", description: "By hand" }, { import: "${legacy}" });
new Group("below", { parent: legacy, name: "below", adopt: "match" });`;
    program.write(source({ further }));
    const { output } = await program.must("up", "--yes", "--skip-preview");
    expect(output).toMatch(/legacy\s+imported/);
    expect(output).toMatch(/Group below takes over group [0-9a-f/]+ "below"/);
    expect((await writes()).filter(([operation]) => operation === "CreateGroup")).toEqual([]);
    expect(program.state().resources.find(({ urn }) => urn.endsWith("::legacy"))?.id).toBe(legacy);
    await program.must("preview", "--expect-no-changes");

    // Under another name, without an alias: the old one leaves the stack, and the record stays.
    program.write(source({ further: further.replace('Group("legacy"', 'Group("renamed"') }));
    const renamed = await program.must("up", "--yes", "--skip-preview");
    expect(renamed.output).toContain(`group ${legacy} "legacy" stays: another resource of this stack manages it`);
    expect(await writes()).toEqual([]);
  });
});
