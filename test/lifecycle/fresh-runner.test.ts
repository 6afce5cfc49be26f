// A runner without the journal of the killed run, as in CI. The engine's state has what that run was creating, and the next update takes
// it over. Where nothing shows who created an equal record, the update stops. docs/recovery.md has these commands.
// test/provider/recovery/interrupted.test.ts has the other records that such a run may have left.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Program } from "../harness/engine-workplace.ts";
import { irmIn } from "../harness/irm-command.ts";
import { createYamlProgram } from "../harness/language-program.ts";
import { group, interruptions, source } from "./interruption.ts";

const place = interruptions();

/** The run is killed with everything on its machine when the service has carried these requests out. */
const killDuring = async (program: Program, ...methods: string[]): Promise<void> => {
  const held = methods.map((method) => place.proxy.hold(method, /\/groups\//, "after"));
  const run = program.start("up", "--yes", "--skip-preview");
  for (const one of held) await place.during(run, one);
  await place.killAll(run);
  rmSync(join(place.place.folder, "journal"), { recursive: true });
  await program.must("cancel", "--yes");
  for (const one of held) one.release();
};

const uidsOf = (...names: string[]) =>
  names.flatMap((name) => place.place.rows("groups", "name = ?", name).map(({ uid }) => uid));

// Without a request that is held, two of them are over soon.
const HURRIED = { IRM_REQUEST_TIMEOUT: "1" };

// A program in YAML below tries the plugin.
it("takes over what a killed run created, and counts that once", async () => {
  const own = { fresh: "fresh", late: "late" };
  const both = source(own.fresh) + group(own.late);
  const program = await place.program("fresh", both, HURRIED);
  await killDuring(program, "POST", "POST");
  const [fresh, late] = uidsOf(own.fresh, own.late);
  const { code, stdout } = await irmIn(program, ["recover", "--stack", "dev"]);
  expect(code).toBe(3);
  for (const [name, uid] of [
    [own.fresh, fresh],
    [own.late, late],
  ])
    expect(stdout).toContain(`group ${uid} "${name}", created `);
  const { output: preview } = await program.must("preview");
  expect(preview).toContain(
    `Group ${own.fresh} takes over group ${fresh} "${own.fresh}", created by an earlier run at 2`,
  );

  // The program has changed since: the record is what was sent, and is changed.
  program.write(source(own.fresh, "changed") + group(own.late));
  const up = await program.must("up", "--yes", "--skip-preview");
  for (const uid of [fresh, late])
    expect(up.output).toMatch(new RegExp(`adopting group ${uid} .*, created by an earlier run`));
  expect(uidsOf(own.fresh, own.late)).toEqual([fresh, late]);
  expect(place.place.rows("groups", "uid = ?", fresh as string)[0]?.body.description).toBe("changed");

  // The operations stay in the state. A record that somebody creates after the end of the resource is none of the killed run.
  expect(program.state().pending.map(({ type }) => type)).toEqual(["creating", "creating"]);
  program.write(source(own.fresh, "changed"));
  await program.must("up", "--yes", "--skip-preview");
  expect(uidsOf(own.late)).toEqual([]);
  const { organization } = place.place.server;
  await place.place.call("POST", `/iam/v2beta1/groups/${organization}`, { name: own.late, description: "first" });
  const [foreign] = uidsOf(own.late);
  program.write(both.replace('"first"', '"changed"'));
  const refused = await program.run("up", "--yes", "--skip-preview");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain(`and nothing shows that this stack created it; nothing was sent:`);
  expect(refused.output).toContain(`group ${foreign} "${own.late}", created `);
  await program.must("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
  expect(program.state().pending).toEqual([]);
  await program.must("destroy", "--yes", "--skip-preview");
  expect(uidsOf(own.fresh, own.late)).toEqual([foreign]);
});

it("changes back, takes over and deletes in a program in YAML", async () => {
  const { organization, token } = place.place.server;
  const textOf = (groups: Record<string, string>) =>
    ["resources:"]
      .concat(
        Object.entries(groups).flatMap(([name, description]) => [
          `  ${name}:`,
          "    type: irm:Group",
          `    properties: { parent: ${organization}, name: ${name}, description: ${description} }`,
        ]),
      )
      .join("\n");
  // The first of two requests is still held when the second one comes, also on a slow machine: it would be sent again, and carried out.
  const env = { IRM_BASE_URL: place.proxy.url, IRM_TOKEN: token, IRM_REQUEST_TIMEOUT: "4" };
  const program = await createYamlProgram(place.place, "in-yaml", textOf({ kept: "first" }), env);
  await program.must("up", "--yes", "--skip-preview");
  program.write(textOf({ kept: "second", made: "first" }));
  await killDuring(program, "PATCH", "POST");
  const [made] = uidsOf("made");
  program.write(textOf({ kept: "first", made: "first" }));
  const up = await program.must("up", "--yes", "--skip-preview");
  expect(up.output).toContain(
    "stack organization/in-yaml/dev is open: a run was killed while it was changing a resource, and there is no journal of it here.",
  );
  expect(up.output).toContain(`adopting group ${made} "made", created by an earlier run at`);
  const rows = ["kept", "made"].flatMap((name) => place.place.rows("groups", "name = ?", name));
  expect(rows.map(({ body }) => body.description)).toEqual(["first", "first"]);

  // An update that deletes nothing names what the program no longer declares, and `irm recover` deletes it.
  program.write(textOf({ kept: "first", made: "first", reverted: "first" }));
  await killDuring(program, "POST");
  const [reverted] = uidsOf("reverted");
  program.write(textOf({ kept: "first", made: "first" }));
  const without = await program.must("up", "--yes", "--skip-preview");
  expect(without.output).toContain(`group ${reverted} "reverted", created `);
  expect(without.output).toContain("irm recover");
  const recovered = await irmIn(program, ["recover", "--stack", "dev", "--yes"]);
  expect(recovered, recovered.stderr).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`^deleted 1 record:\n  Group::reverted: group ${reverted} "reverted", created \\S+\n$`),
    ),
    stderr: "",
  });
  expect(uidsOf("kept", "made", "reverted")).toEqual(rows.map(({ uid }) => uid));

  program.write(textOf({ kept: "first", made: "first", dropped: "first" }));
  await killDuring(program, "POST");
  const [dropped] = uidsOf("dropped");
  const destroy = await program.must("destroy", "--yes", "--skip-preview");
  // The engine has begun its own deletions by then, and they are none of a killed run.
  expect(destroy.output).not.toContain("is open");
  expect(destroy.output).toMatch(
    new RegExp(`a killed run created group ${dropped} .* no resource of the stack has it: it is deleted`),
  );
  expect(uidsOf("kept", "made", "dropped")).toEqual([]);
});
