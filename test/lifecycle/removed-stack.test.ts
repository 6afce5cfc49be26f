// A stack that is removed, and a new one of its name: what the first one created belongs to somebody else now.
import { expect, inject, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { keyService } from "../harness/key-service.ts";
import { openWorkplace } from "./place.ts";

const place = openWorkplace();

const sourceOf = (name: string, from: string) => `
import { AccountAssociation, Group, Identity, RoleBinding, RoleBindingSet } from "${from}";
const team = new Group("team", { parent: process.env.ORG!, name: "${name}", allowDuplicate: true });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://x.example", subject: "ci" } });
new RoleBinding("views", { parent: process.env.ORG!, identity: ci, role: "viewer" });
new RoleBindingSet("edits", { parent: team, bindings: [{ identity: ci, role: "editor" }] });
new AccountAssociation("aws", { parent: team, name: "aws", amazon: { account: "123456789012" } });
`;

/** Each run has a process of its own: a program that runs inline does not tell what is stored. */
const programOf = (name: string, from: string, env = {}) =>
  place.program(
    name,
    sourceOf(name, from),
    { ORG: place.server.organization, ...env },
    { ownProcess: true, plugin: inject("pluginFolder") },
  );

const removeStack = async (program: Program): Promise<void> => {
  await program.must("stack", "rm", "--yes", "--force");
  await program.must("stack", "init", "dev", "--secrets-provider", (await keyService()).url);
};

const groups = (name: string) => place.rows("groups", "name = ?", name).map(({ uid }) => uid);

it("with resources left, a new stack of the name creates its own", async () => {
  const name = "dynamic";
  const program = await programOf(name, "pulumi-irm");
  await program.must("up", "--yes", "--skip-preview");
  const first = groups(name);
  expect(first).toHaveLength(1);
  await removeStack(program);

  const up = await program.must("up", "--yes");
  expect(up.output).not.toMatch(/takes? over|adopting|interrupted|earlier run/);
  expect(up.output).toMatch(/Resources:\s+\+ 6 created/);
  expect(groups(name)).toHaveLength(2);

  await program.must("destroy", "--yes", "--skip-preview");
  expect(groups(name)).toEqual(first);
});

it("an engine that saves its state only at the end proves nothing before: the records are still taken over", async () => {
  const program = await programOf("unsaved", "pulumi-irm/plugin", { PULUMI_SKIP_CHECKPOINTS: "true" });
  await program.must("up", "--yes", "--skip-preview");
  await removeStack(program);
  const { output } = await program.must("preview");
  expect(output).toContain(`takes over group ${groups("unsaved")[0]} "unsaved", created by an earlier run at `);
  expect(output).not.toContain("interrupted");
});
