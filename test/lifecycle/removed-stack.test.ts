// A stack that is removed, and a new one of its name: what the first one created belongs to somebody else now.
import { expect, it } from "vitest";
import { keyService } from "../harness/key-service.ts";
import { openWorkplace } from "./place.ts";

const place = openWorkplace();

const source = `
import { AccountAssociation, Group, Identity, RoleBinding, RoleBindingSet } from "pulumi-irm";
const team = new Group("team", { parent: process.env.ORG!, name: "team", allowDuplicate: true });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://x.example", subject: "ci" } });
new RoleBinding("views", { parent: process.env.ORG!, identity: ci, role: "viewer" });
new RoleBindingSet("edits", { parent: team, bindings: [{ identity: ci, role: "editor" }] });
new AccountAssociation("aws", { parent: team, name: "aws", amazon: { account: "123456789012" } });
`;

const groups = () => place.rows("groups", "name = 'team'").map(({ uid }) => uid);

it("with resources left, a new stack of the name creates its own", async () => {
  // Each run has a process of its own: a program that runs inline does not tell what is stored.
  const program = await place.program("removed", source, { ORG: place.server.organization }, { ownProcess: true });
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
