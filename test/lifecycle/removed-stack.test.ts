// A stack that is removed, and a new one of its name: what the first one created belongs to somebody else now.
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { createWorkplace, type Program, type Workplace } from "../harness/engine-workplace.ts";
import { keyService } from "../harness/key-service.ts";
import { formsOf } from "../support/form.ts";

let place: Workplace;
beforeAll(async () => {
  place = await createWorkplace();
});
afterAll(() => place.close());

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

const removeStack = async (program: Program, ...flags: string[]): Promise<void> => {
  await program.must("stack", "rm", "--yes", ...flags);
  await program.must("stack", "init", "dev", "--secrets-provider", (await keyService()).url);
};

const groups = (name: string) => place.rows("groups", "name = ?", name).map(({ uid }) => uid);

const TAKES_OVER = /takes? over|adopting|interrupted|earlier run/;

it.each(formsOf(["dynamic", "pulumi-irm"], ["native", "pulumi-irm/plugin"]))(
  "with %s resources left, a new stack of the name creates its own",
  async (name, from) => {
    const program = await programOf(name, from);
    await program.must("up", "--yes", "--skip-preview");
    const first = groups(name);
    expect(first).toHaveLength(1);
    await removeStack(program, "--force");

    const up = await program.must("up", "--yes");
    expect(up.output).not.toMatch(TAKES_OVER);
    expect(up.output).toMatch(/Resources:\s+\+ 6 created/);
    expect(groups(name)).toHaveLength(2);

    await program.must("destroy", "--yes", "--skip-preview");
    expect(groups(name)).toEqual(first);
    await removeStack(program);
    expect((await program.must("preview")).output).not.toMatch(TAKES_OVER);
  },
);

it("an engine that saves its state only at the end proves nothing before: the records are still taken over", async () => {
  const program = await programOf("unsaved", "pulumi-irm/plugin", { PULUMI_SKIP_CHECKPOINTS: "true" });
  await program.must("up", "--yes", "--skip-preview");
  await removeStack(program, "--force");
  const { output } = await program.must("preview");
  expect(output).toContain(`takes over group ${groups("unsaved")[0]} "unsaved", created by an earlier run at `);
  expect(output).not.toContain("interrupted");
});
