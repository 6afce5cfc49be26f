// Native resources of a TypeScript program through a real engine: what dynamic ones cannot do, and what both do.
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Program } from "../../harness/engine-workplace.ts";
import { openWorkplace } from "../place.ts";

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
  const place = openWorkplace();
  let program: Program;
  /** of records that somebody made by hand */
  let legacy: string;
  let people: string;
  let mapping: string;
  beforeAll(async () => {
    const { organization } = place.server;
    legacy = await place.create(`groups/${organization}`, { name: "legacy", description: "By hand" });
    await place.create(`groups/${legacy}`, { name: "below" });
    const [viewer] = place.rows("roles", "name = ?", "viewer");
    const oidc = { issuer: "https://login.acme.example", clientId: "console", pkceEnabled: true };
    people = await place.create(`identityProviders/${organization}`, {
      name: "people",
      defaultRole: viewer?.uid,
      oidc,
    });
    const record = { externalGroupId: "SRE", roleUid: viewer?.uid, scope: organization };
    mapping = await place.create(`externalGroupRoleMappings/${people}`, record);
    const env = { ORG: organization };
    program = await place.program("native", source(), env, { plugin: inject("pluginFolder") });
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });

  const writes = async () =>
    (await place.writes()).map(({ operation, query, fields }) => [operation, query?.updateMask ?? fields]);
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

  it("take over existing records by the option import, and by adopt, and functions find them", async () => {
    const further = `
import { ExternalGroupRoleMapping, getExternalGroupRoleMapping, listExternalGroupRoleMappings } from "pulumi-irm/plugin";
const legacy = new Group("legacy", { parent, name: "legacy", description: "By hand" }, { import: "${legacy}" });
new Group("below", { parent: legacy, name: "below", adopt: "match" });
const inputs = { parent: "${people}", externalGroupId: "SRE", role: getRoleOutput({ name: "viewer" }).uid, scope: parent };
new ExternalGroupRoleMapping("sre", inputs, { import: "${mapping}" });
export const found = (await getExternalGroupRoleMapping({ uid: "${mapping}" })).externalGroupId;
export const listed: string[] = [];
for await (const one of listExternalGroupRoleMappings({ identityProviderUid: "${people}" })) listed.push(one.uid);`;
    program.write(source({ further }));
    const { output } = await program.must("up", "--yes", "--skip-preview");
    expect(output).toMatch(/Group below takes over group [0-9a-f/]+ "below"/);
    expect((await writes()).filter(([operation]) => String(operation).startsWith("Create"))).toEqual([]);
    const { resources } = program.state();
    for (const [name, id] of Object.entries({ legacy, sre: mapping })) {
      expect(output).toMatch(new RegExp(`${name}\\s+imported`));
      expect(resources.find(({ urn }) => urn.endsWith(`::${name}`))?.id).toBe(id);
    }
    const outputs = resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs;
    expect(outputs).toMatchObject({ found: "SRE", listed: [mapping] });
    await program.must("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes");

    // Under another name, without an alias: the old one leaves the stack, and the record stays.
    program.write(source({ further: further.replace('Group("legacy"', 'Group("renamed"') }));
    const renamed = await program.must("up", "--yes", "--skip-preview");
    expect(renamed.output).toContain(`group ${legacy} "legacy" stays: another resource of this stack manages it`);
    expect(await writes()).toEqual([]);
  });
});
