// Deletion in dependency order, also where literal uids give the engine no order.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";

const DEPTH = 20;

describe("a program of literal uids", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const ordered = `
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";
let parent: string | Group = process.env.ORG!;
for (let i = 0; i < ${DEPTH}; i += 1) parent = new Group("g" + i, { parent, name: "g" + i });
const ci = new Identity("ci", { parent, name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
const role = new Role("role", { parent, name: "role", capabilities: ["groups.list"] });
new RoleBinding("binding", { parent, identity: ci, role });
`;

  // The same records, children first, each naming its parent by the uid that it has.
  const literal = () => {
    const uidOf = (table: string, name: string) => place.rows(table, "name = ?", name).at(-1)?.uid as string;
    const groups = Array.from({ length: DEPTH }, (_, i) => {
      const parent = i === 0 ? place.server.organization : uidOf("groups", `g${i - 1}`);
      return `new Group("g${i}", { parent: "${parent}", name: "g${i}" });`;
    });
    const deepest = uidOf("groups", `g${DEPTH - 1}`);
    return `
import { Group, Identity, Role, RoleBinding } from "pulumi-irm";
new RoleBinding("binding", { parent: "${deepest}", identity: "${uidOf("identities", "ci")}", role: "${uidOf("roles", "role")}" });
new Role("role", { parent: "${deepest}", name: "role", capabilities: ["groups.list"] });
new Identity("ci", { parent: "${deepest}", name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "ci" } });
${groups.reverse().join("\n")}
`;
  };

  const unordered = async (name: string): Promise<Program> => {
    const program = await place.program(name, ordered, { ORG: place.server.organization });
    await program.must("up", "--yes", "--skip-preview");
    program.write(literal());
    await program.must("up", "--yes", "--skip-preview", "--expect-no-changes");
    return program;
  };

  it(`is destroyed in one run at the default parallelism, a chain of ${DEPTH} groups deep`, async () => {
    const program = await unordered("chain");
    await program.must("destroy", "--yes", "--skip-preview");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
  });

  it("is destroyed at --parallel 1 too", async () => {
    const program = await unordered("serial");
    await program.must("destroy", "--yes", "--skip-preview", "--parallel", "1");
    expect(place.rows("groups").map(({ uid }) => uid)).toEqual([place.server.organization]);
  });
});
