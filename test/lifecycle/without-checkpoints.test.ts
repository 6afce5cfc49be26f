// PULUMI_SKIP_CHECKPOINTS: the engine saves its state once, at the end. A run that is killed before that leaves an open stack, which the next
// runs plan from the live records (docs/recovery.md#open-stack).
import { describe, expect, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";
import { killWhole } from "../support/process.ts";
import { interruptions } from "./interruption.ts";

const place = interruptions();

const UNCHECKED = { PULUMI_SKIP_CHECKPOINTS: "true" };

/** `name` is of the top group. */
const base = (name: string, description = "one", role = "viewer") => `
import { Group, Identity, RoleBinding } from "pulumi-irm";
const parent = process.env.ORG!;
const team = new Group("team", { parent, name: "${name}", description: "${description}" });
const ci = new Identity("ci", { parent: team, name: "ci", claimMatch: { issuer: "https://issuer.example.com", subject: "ci" } });
new RoleBinding("ci-reads", { parent: team, identity: ci, role: "${role}" });
`;

/** More groups than the engine works on at a time, another role, and a group below the last one. */
const more = `
const groups = Array.from({ length: 12 }, (_, i) => new Group("more-" + i, { parent: team, name: "more-" + i }));
const owns = new RoleBinding("ci-owns", { parent: team, identity: ci, role: "owner" });
new Group("last", { parent: groups[11]!, name: "last" }, { dependsOn: [...groups, owns] });
`;

/** Kills all processes of an update when it is about to create the last group, whose request still arrives. */
const killedUp = async (program: Program): Promise<void> => {
  const held = place.proxy.hold("POST", /\/groups\/[0-9a-f]{40}(\/[0-9a-f]{16}){2}$/, "before");
  const run = program.start("up", "--yes", "--skip-preview");
  await place.during(run, held);
  killWhole(run.pid);
  await run.exited;
  held.release();
  await program.must("cancel", "--yes");
};

const groupsIn = (top: string) =>
  place.place
    .rows("groups", "parent LIKE ? OR uid = ?", `${top}%`, top)
    .map(({ name, body }) => [name, body.description]);
const rolesIn = (top: string) => {
  const names = new Map(place.place.rows("roles").map(({ uid, name }) => [uid, name]));
  return place.place.rows("role_bindings", "parent = ?", top).map((row) => names.get(row.role_uid as string));
};

const irm = (program: Program, ...args: string[]) =>
  irmIn(program, args, { IRM_BASE_URL: place.proxy.url, IRM_TOKEN: place.place.server.token });

describe("a killed run without checkpoints", () => {
  it("of dynamic resources is named by preview and irm recover list, and the up of the reverted program undoes it", async () => {
    const program = await place.program("reverted", base("reverted"), UNCHECKED, { ownProcess: true });
    await program.must("up", "--yes", "--skip-preview");
    const top = place.place.uidOf("groups", "reverted");

    program.write(base("reverted", "two", "editor") + more);
    await killedUp(program);
    expect(rolesIn(top).toSorted()).toEqual(["editor", "owner"]);
    expect((await irm(program, "recover", "list")).stdout).toMatch(
      /^open {7}\S+ {2}organization\/reverted\/dev {2}a run without checkpoints, process \d+ on \S+, did not end: 14 creates, 2 updates$/m,
    );

    program.write(base("reverted"));
    const { output } = await program.must("up", "--yes");
    const [, preview = "", update = ""] = output.split(/^(?:Previewing update|Updating) \(/m);
    expect(preview).toMatch(
      /warning: stack organization\/reverted\/dev is open: .* the engine's state lacks 14 creates, 2 updates\./,
    );
    expect(preview).toMatch(/~ 2 to update\s+2 unchanged/);
    expect(preview).toMatch(/the update deletes what a run without checkpoints created, .*\n(?: +- .*\n){14}/);
    expect(update).toMatch(/the update has deleted what a run without checkpoints created, .*\n(?: +- .*\n){14}/);
    expect(groupsIn(top)).toEqual([["reverted", "one"]]);
    expect(rolesIn(top)).toEqual(["viewer"]);
  });
});
