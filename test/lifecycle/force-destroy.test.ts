// Deletes of records that the engine does not know, or not in this stack: two stacks that share a tree, `--target`,
// forceDestroy.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writesOf } from "../harness/api-process.ts";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";

describe("deletion of a tree", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const env = () => ({ ORG: place.server.organization });
  const uidOf = (name: string) => place.rows("groups", "name = ?", name)[0]?.uid as string;
  const deletes = async () =>
    writesOf(await place.server.takeRequests()).flatMap(({ method, path, status }) =>
      method === "DELETE" && status === 200 ? [path.split("/").slice(3).join("/")] : [],
    );

  it("that two stacks share: the upper one waits for the lower one, and alone it names the remaining records", async () => {
    const upper = await place.program(
      "upper",
      `import { Group } from "pulumi-irm"; new Group("upper", { parent: process.env.ORG!, name: "upper" });`,
      env(),
    );
    await upper.must("up", "--yes", "--skip-preview");
    const source = `import { Group } from "pulumi-irm"; new Group("lower", { parent: "${uidOf("upper")}", name: "lower" });`;
    const lower = await place.program("lower", source, env());
    await lower.must("up", "--yes", "--skip-preview");
    const left = `group ${uidOf("lower")} "lower"`;

    const alone = await upper.run("destroy", "--yes", "--skip-preview");
    expect(alone.code).not.toBe(0);
    expect(alone.output).toContain("No progress for 10 s; 1 record blocks the deletion:");
    expect(alone.output).toContain(`- ${left}`);
    expect(alone.output).toContain("cannot delete group with child groups");
    expect(uidOf("upper")).toBeDefined();
    expect(uidOf("lower")).toBeDefined();

    // The lower one ends during the delete of the upper one, by the server's log and not by a clock.
    await place.server.takeRequests();
    const waiting = upper.start("destroy", "--yes", "--skip-preview");
    const countRefusals = () =>
      place.server
        .log()
        .split("\n")
        .filter((line) => line.includes("cannot delete group with child")).length;
    const before = countRefusals();
    await expect.poll(countRefusals, { timeout: 60_000 }).toBeGreaterThan(before);
    await place.call("DELETE", `/iam/v2beta1/groups/${uidOf("lower")}`);
    const { code, output } = await waiting.result;
    expect(code, output).toBe(0);
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
    await lower.must("destroy", "--yes", "--skip-preview");
    expect(lower.state().resources).toEqual([]);
  });

  const top = `new Group("top", { parent: process.env.ORG!, name: "top", forceDestroy: true });`;
  let program: Program;

  it("by --target includes dependents only with --target-dependents, and nothing beside it", async () => {
    program = await place.program(
      "tree",
      `
import { Group } from "pulumi-irm";
${top}
const a = new Group("a", { parent: process.env.ORG!, name: "a" });
const below = new Group("below", { parent: a, name: "below" });
new Group("b", { parent: process.env.ORG!, name: "b" });
`,
      env(),
    );
    await program.must("up", "--yes", "--skip-preview");
    const target = program.state().resources.find(({ urn }) => urn.endsWith("::a"))?.urn as string;
    await place.server.takeRequests();
    const refused = await program.run("destroy", "--yes", "--skip-preview", "--target", target);
    expect(refused.code).not.toBe(0);
    expect(await deletes()).toEqual([]);
    const [a, below] = [uidOf("a"), uidOf("below")];
    await program.must("destroy", "--yes", "--skip-preview", "--target", target, "--target-dependents");
    expect(await deletes()).toEqual([`groups/${below}`, `groups/${a}`]);
  });

  it("by forceDestroy lists the records first, deletes the deepest first, and keeps what the program declares", async () => {
    const source = (...groups: string[]) => `import { Group } from "pulumi-irm";\n${groups.join("\n")}\n`;
    const uid = uidOf("top");
    const mid = (await place.call("POST", `/iam/v2beta1/groups/${uid}`, { name: "mid" })).json.uid as string;
    const low = (await place.call("POST", `/iam/v2beta1/groups/${mid}`, { name: "low" })).json.uid as string;

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
    const told = [`forceDestroy: deletes 2 records below it:`, `- group ${low} "low"`, `- group ${mid} "mid"`];
    for (const line of told) expect(up.output).toContain(line);
    const gone = await deletes();
    expect(gone.slice(1)).toEqual([`groups/${low}`, `groups/${mid}`, `groups/${uid}`]);
    expect(place.rows("groups").map((row) => row.uid)).toEqual([place.server.organization]);
  });
});
