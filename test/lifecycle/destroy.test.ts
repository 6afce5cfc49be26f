// Deletion in dependency order, also where literal uids give the engine no order, of some resources, and of what only the service knows.
import { beforeAll, describe, expect, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { openWorkplace } from "./place.ts";

const DEPTH = 20;

const place = openWorkplace();

describe("a program of literal uids", () => {
  const CHAINS = ["chain", "serial"];

  const chainProgram = (chain: string) => `{
let parent: string | Group = process.env.ORG!;
for (let i = 0; i < ${DEPTH}; i += 1) parent = new Group("${chain}" + i, { parent, name: "${chain}" + i });
const ci = new Identity("${chain}-ci", { parent, name: "${chain}", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
const role = new Role("${chain}-role", { parent, name: "${chain}", capabilities: ["groups.list"] });
new RoleBinding("${chain}-binding", { parent, identity: ci, role });
}`;

  // The same records, children first, each naming its parent by the uid that it has.
  const literal = (chain: string) => {
    const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name).at(-1)?.uid as string;
    const groups = Array.from({ length: DEPTH }, (_, i) => {
      const parent = i === 0 ? place.server.organization : uidOf("groups", `${chain}${i - 1}`);
      return `new Group("${chain}${i}", { parent: "${parent}", name: "${chain}${i}" });`;
    });
    const deepest = uidOf("groups", `${chain}${DEPTH - 1}`);
    return `
new RoleBinding("${chain}-binding", { parent: "${deepest}", identity: "${uidOf("identities", chain)}", role: "${uidOf("roles", chain)}" });
new Role("${chain}-role", { parent: "${deepest}", name: "${chain}", capabilities: ["groups.list"] });
new Identity("${chain}-ci", { parent: "${deepest}", name: "${chain}", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
${groups.reverse().join("\n")}
`;
  };

  const source = (declarations: string[]) =>
    `import { Group, Identity, Role, RoleBinding } from "pulumi-irm";\n${declarations.join("\n")}`;

  it(`is destroyed at the default parallelism and at --parallel 1, a chain of ${DEPTH} groups deep, each in one run`, async () => {
    const program = await place.program("literal", source(CHAINS.map(chainProgram)), {
      ORG: place.server.organization,
    });
    await program.must("up", "--yes", "--skip-preview");
    program.write(source(CHAINS.map(literal)));
    await program.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    const remainingGroups = () =>
      place.rows("groups", "uid <> ?", place.server.organization).map(({ name }) => name as string);
    await program.must("destroy", "--yes", "--skip-preview", "--parallel", "1", "--target", "urn:**::serial*");
    expect(remainingGroups().filter((name) => !name.startsWith("chain"))).toEqual([]);
    expect(remainingGroups()).toHaveLength(DEPTH);
    await program.must("destroy", "--yes", "--skip-preview");
    expect(remainingGroups()).toEqual([]);
  });
});

describe("deletion of a tree", () => {
  const uidOf = (name: string) => place.rows("groups", "name = ?", name)[0]?.uid as string;
  const deletes = async () =>
    (await place.writes()).flatMap(({ method, path, status }) =>
      method === "DELETE" && status === 200 ? [path.split("/").slice(3).join("/")] : [],
    );
  const source = (...groups: string[]) => `import { Group } from "pulumi-irm";\n${groups.join("\n")}\n`;
  const top = `new Group("top", { parent: process.env.ORG!, name: "top", forceDestroy: true });`;
  const tree = `const a = new Group("a", { parent: process.env.ORG!, name: "a" });
const below = new Group("below", { parent: a, name: "below" });
new Group("b", { parent: process.env.ORG!, name: "b" });`;
  let program: Program;
  beforeAll(async () => {
    program = await place.program("tree", source(top, tree), { ORG: place.server.organization });
    await program.must("up", "--yes", "--skip-preview");
    await place.server.takeRequests();
  });

  it("by --target includes dependents only with --target-dependents, and nothing beside it", async () => {
    const target = program.state().resources.find(({ urn }) => urn.endsWith("::a"))?.urn as string;
    const refused = await program.run("destroy", "--yes", "--skip-preview", "--target", target);
    expect(refused.code).not.toBe(0);
    expect(await deletes()).toEqual([]);
    const [a, below] = [uidOf("a"), uidOf("below")];
    await program.must("destroy", "--yes", "--skip-preview", "--target", target, "--target-dependents");
    expect(await deletes()).toEqual([`groups/${below}`, `groups/${a}`]);
  });

  it("by forceDestroy lists the records first, deletes the deepest first, and keeps what the program declares", async () => {
    const uid = uidOf("top");
    const mid = await place.create(`groups/${uid}`, { name: "mid" });
    const low = await place.create(`groups/${mid}`, { name: "low" });

    // A mistake: the group leaves the program, but a record that is declared in it by uid does not.
    const kept = `new Group("kept", { parent: "${uid}", name: "kept" });`;
    program.write(source(top, kept));
    await program.must("up", "--yes", "--skip-preview");
    program.write(source(kept));
    await place.server.takeRequests();
    const spared = await program.run("up", "--yes", "--skip-preview");
    expect(spared.code).not.toBe(0);
    expect(spared.output).toContain("this run keeps these records, or leaves them in place; nothing was deleted:");
    expect(spared.output).toContain(`- group ${uidOf("kept")} "kept"`);
    expect(await deletes()).toEqual([]);

    program.write(source());
    const up = await program.must("up", "--yes", "--skip-preview");
    for (const line of ["forceDestroy: deletes 2 records below it:", `- group ${low} "low"`, `- group ${mid} "mid"`])
      expect(up.output).toContain(line);
    const gone = await deletes();
    expect(gone.slice(1)).toEqual([`groups/${low}`, `groups/${mid}`, `groups/${uid}`]);
    expect(place.rows("groups", "uid = ? OR uid LIKE ?", uid, `${uid}/%`)).toEqual([]);
  });
});
