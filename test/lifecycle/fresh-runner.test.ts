// A runner without the journal of the killed run, as in CI without a cache: what the engine and the service know together is
// enough, and a person decides. docs/recovery.md has these commands.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { interruptions, source } from "../support/interruption.ts";
import type { Program } from "../support/program.ts";
import { root } from "../support/server-process.ts";

const place = interruptions();

/** `pulumi stack export | irm journal pending -` */
const pending = async (program: Program): Promise<{ code: number; output: string }> => {
  const { stdout: exported } = await program.must("stack", "export", "--stack", "dev");
  const { server } = place.place;
  const child = spawn(process.execPath, ["cli/main.ts", "journal", "pending", "-"], {
    cwd: root,
    env: { ...process.env, IRM_BASE_URL: server.baseUrl, IRM_TOKEN: server.token },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(exported);
  const code = new Promise<number>((resolve) => child.on("exit", (exit) => resolve(exit ?? -1)));
  return { output: await text(child.stdout), code: await code };
};

const killed = async (name: string): Promise<{ program: Program; uid: string }> => {
  const program = await place.program(name, source(name));
  const held = place.proxy.hold("POST", /\/groups\//, "after");
  const run = program.start("up", "--yes", "--skip-preview");
  await place.during(run, held);
  await place.killEngine(run, (provider) => place.kill(provider));
  held.release();
  rmSync(join(place.place.folder, "journal"), { recursive: true });
  await program.must("cancel", "--yes");
  return { program, uid: place.place.rows("groups", "name = ?", name)[0]?.uid as string };
};

it("names the record that the killed run made, and adopting it leaves one", async () => {
  const { program, uid } = await killed("fresh");
  const { code, output } = await pending(program);
  expect(code).toBe(1);
  expect(output).toContain(
    `a run was interrupted while creating this group "fresh" in ${place.place.server.organization}; it may be:`,
  );
  expect(output).toContain(`group ${uid} "fresh", made `);
  expect(output).toContain(
    `set adopt: "${uid}" and deleteAdopted: true on the resource, or delete the record; then run pulumi up`,
  );

  program.write(source("fresh", "first", `, adopt: "${uid}", deleteAdopted: true`));
  await program.must("up", "--yes", "--skip-preview");
  await program.must("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
  expect(program.state().pending).toEqual([]);
  expect((await pending(program)).output).toBe("no create is unfinished
");
  await program.must("preview", "--expect-no-changes");
  await program.must("destroy", "--yes", "--skip-preview");
  expect(place.place.rows("groups", "name = ?", "fresh")).toEqual([]);
});

it("is not helped by --import-pending-creates: the engine has no code to import with, and forgets the operation", async () => {
  const { program, uid } = await killed("imported");
  const urn = program.state().pending[0]?.resource.urn as string;
  const pair = ["--import-pending-creates", urn, "--import-pending-creates", uid];
  await program.must("refresh", "--yes", "--skip-preview", ...pair);
  const { pending: left, resources } = program.state();
  expect(left).toEqual([]);
  expect(resources.filter(({ id }) => id === uid)).toEqual([]);
  // The next up still says what is there.
  const up = await program.must("up", "--yes", "--skip-preview");
  expect(up.output).toContain(
    "there is one already with the same parent and the same fields, and no intent journal here",
  );
  expect(up.output).toContain(`group ${uid} "imported", made `);
});
