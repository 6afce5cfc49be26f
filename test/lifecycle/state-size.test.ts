// What the engine keeps of a resource: it writes the whole state after each step.
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { StateResource } from "../harness/engine-stack.ts";
import { openWorkplace, type Program } from "../harness/engine-workplace.ts";

/** One group for three identities and six role bindings, and the same bindings as a set. */
const source = (module: string) => `
import * as irm from "${module}";
const parent = process.env.ORG!;
export let place: object;
for (let g = 0; g < 2; g++) {
  const group = new irm.Group(\`group-\${g}\`, { parent, name: \`group-\${g}\` });
  const identities = [0, 1, 2].map((i) => {
    const name = \`identity-\${g}-\${i}\`;
    const claimMatch = { issuer: "https://issuer.example.com", subject: "repo:acme/" + name };
    return new irm.Identity(name, { parent: group, name, claimMatch });
  });
  for (const [i, identity] of identities.entries())
    for (const role of ["viewer", "editor"])
      place = new irm.RoleBinding(\`binding-\${g}-\${i}-\${role}\`, { parent: group, identity, role }).group;
  const other = new irm.Group(\`other-\${g}\`, { parent: group, name: \`other-\${g}\` });
  const bindings = identities.flatMap((identity) => ["viewer", "editor"].map((role) => ({ identity, role })));
  new irm.RoleBindingSet(\`set-\${g}\`, { parent: other, bindings });
}
irm.Group.get("last", process.env.ORG!);
`;

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

const isOurs = ({ type, id }: StateResource): boolean => /\birm:(index:)?[A-Z]/.test(type) && id !== undefined;

/** What takes how many bytes in an entry, the largest first. */
const partsOf = (resource: StateResource): string =>
  Object.entries(resource)
    .map(([name, value]) => ({ name, size: sizeOf({ [name]: value }) - 1 }))
    .toSorted((a, b) => b.size - a.size)
    .map(({ name, size }) => `${name} ${size}`)
    .join(", ");

describe.each([
  { module: "pulumi-irm", most: { Group: 1_410, Identity: 1_650, RoleBinding: 1_800 }, mean: 1_700, set: 800 },
  { module: "pulumi-irm/plugin", most: { Group: 1_035, Identity: 1_250, RoleBinding: 1_285 }, mean: 1_235, set: 700 },
])("the state of $module", ({ module, most, mean, set }) => {
  const place = openWorkplace();
  let program: Program;
  beforeAll(async () => {
    const env = { ORG: place.server.organization };
    program = await place.program("size", source(module), env, { plugin: inject("pluginFolder") });
    await program.must("up", "--yes", "--skip-preview");
  });

  const ours = () => program.state().resources.filter(isOurs);
  const ofType = (type: string) => ours().filter((one) => one.type.endsWith(`:${type}`));
  const named = (head: string) => ours().filter(({ urn }) => urn.includes(`::${head}-`));

  it.each(Object.entries(most))("has few bytes of each %s", (type, bytes) => {
    const largest = ofType(type).toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] as StateResource;
    expect(sizeOf(largest), `${sizeOf(largest)} bytes: ${partsOf(largest)}`).toBeLessThanOrEqual(bytes);
  });

  it.each([
    ["a resource of a typical stack", ["group", "identity", "binding"], 20, mean],
    ["a binding in a set of six", ["set"], 12, set],
  ])("has few bytes of %s", (_, heads, count, most) => {
    const all = heads.flatMap(named);
    const bytes = all.reduce((sum, one) => sum + sizeOf(one), 0) / count;
    expect(bytes, all.map(partsOf).join("\n")).toBeLessThanOrEqual(most);
  });

  // The identity is in the same group, so it is created after the group and deleted before it.
  it("names a dependency of a role binding once: that of its identity implies the group", () => {
    for (const { dependencies, propertyDependencies = {} } of ofType("RoleBinding") as Depending[]) {
      const { identity = [], ...others } = propertyDependencies;
      expect(identity).toEqual([expect.stringMatching(/::identity-\d-\d$/)]);
      expect(dependencies).toEqual(identity);
      expect(Object.values(others).flat()).toEqual([]);
    }
  });

  it("repeats nothing that the class of a resource derives, and no name for its reader", () => {
    for (const { inputs, outputs } of named("binding")) {
      expect(inputs).not.toHaveProperty("names");
      expect(outputs).not.toHaveProperty("parent");
      if (module === "pulumi-irm/plugin") expect(outputs?.group).toEqual({ name: expect.stringMatching(/^group-\d$/) });
    }
    const { outputs: exported } = program.state().resources.find(({ type }) => type === "pulumi:pulumi:Stack") ?? {};
    const [group] = place.rows("groups", "name = ?", "group-1");
    expect(exported?.place).toEqual({ uid: group?.uid, name: "group-1" });
    // No class of this program declares it.
    const [got] = ours().filter(({ urn }) => urn.endsWith("::last"));
    expect(got?.outputs).toMatchObject({ uid: place.server.organization });
  });
});

interface Depending extends StateResource {
  propertyDependencies?: Record<string, string[]>;
}
