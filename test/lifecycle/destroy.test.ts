// A stack that is removed, and a new one of its name; and deletion in dependency order where literal uids give the engine no order. test/provider/reconcile has what only the service knows.
import { expect, it } from "vitest";
import { openWorkplace } from "../harness/engine-workplace.ts";
import { keyService } from "../harness/key-service.ts";

const DEPTH = 20;

const place = openWorkplace();

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

it(`a program of literal uids is destroyed at the default parallelism and at --parallel 1, a chain of ${DEPTH} groups deep, each in one run`, async () => {
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

const STACK = `
import { AccountAssociation, Group, Identity, RoleBinding, RoleBindingSet } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team", allowDuplicate: true });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://x.example", subject: "ci" } });
new RoleBinding("views", { parent: process.env.ORG!, identity: ci, role: "viewer" });
new RoleBindingSet("edits", { parent: team, bindings: [{ identity: ci, role: "editor" }] });
new AccountAssociation("aws", { parent: team, name: "aws", amazon: { account: "123456789012" } });
`;

const groups = () => place.rows("groups", "name = 'team'").map(({ uid }) => uid);

it("with resources left of a stack that was removed, a new stack of the name creates its own", async () => {
  // Each run has a process of its own: a program that runs inline does not tell what is stored.
  const program = await place.program("removed", STACK, { ORG: place.server.organization }, { ownProcess: true });
  await program.must("up", "--yes", "--skip-preview");
  const first = groups();
  expect(first).toHaveLength(1);
  await program.must("stack", "rm", "--yes", "--force");
  await program.must("stack", "init", "dev", "--secrets-provider", (await keyService()).url);

  const up = await program.must("up", "--yes");
  expect(up.output).not.toMatch(/takes? over|adopting|interrupted|earlier run/);
  expect(up.output).toMatch(/Resources:\s+\+ 6 created/);
  expect(groups()).toHaveLength(2);

  await program.must("destroy", "--yes", "--skip-preview");
  expect(groups()).toEqual(first);
});
