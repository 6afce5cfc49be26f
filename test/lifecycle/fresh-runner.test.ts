// A runner without the journal of the killed run, as in CI without a cache. The engine and the service together know enough,
// and a person decides. docs/recovery.md has these commands.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { root } from "../harness/api-process.ts";
import type { Program } from "../harness/engine-workplace.ts";
import { group, interruptions, source } from "./interruption.ts";

const place = interruptions();

/** `pulumi stack export | irm journal pending -` */
const pending = async (program: Program): Promise<{ code: number; output: string }> => {
  const { stdout: exported } = await program.must("stack", "export");
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

const GROUPS = ["fresh", "imported"] as const;

it("names the records that the killed run created, and adopting one settles it", async () => {
  const program = await place.program("fresh", source("fresh") + group("imported"));
  const held = GROUPS.map(() => place.proxy.hold("POST", /\/groups\//, "after"));
  const run = program.start("up", "--yes", "--skip-preview");
  for (const one of held) await place.during(run, one);
  await place.killEngine(run, (provider) => place.kill(provider));
  for (const one of held) one.release();
  rmSync(join(place.place.folder, "journal"), { recursive: true });
  await program.must("cancel", "--yes");

  const [fresh, imported] = GROUPS.map((name) => place.place.rows("groups", "name = ?", name)[0]?.uid as string);
  const { code, output } = await pending(program);
  expect(code).toBe(1);
  for (const [name, uid] of [
    ["fresh", fresh],
    ["imported", imported],
  ]) {
    expect(output).toContain(
      `a run was interrupted while creating this group "${name}" in ${place.place.server.organization}; it may be:`,
    );
    expect(output).toContain(`group ${uid} "${name}", created `);
    expect(output).toContain(
      `set adopt: "${uid}" and deleteAdopted: true on the resource, or delete the record; then run pulumi up`,
    );
  }

  // --import-pending-creates does not help: the engine cannot import, and forgets the operation.
  const urn = program.state().pending.find(({ resource }) => resource.urn.endsWith("::imported"))?.resource.urn;
  const pair = ["--import-pending-creates", urn as string, "--import-pending-creates", imported as string];
  await program.must("refresh", "--yes", "--skip-preview", ...pair);
  const { pending: left, resources } = program.state();
  expect(left.map(({ resource }) => resource.urn.split("::").at(-1))).toEqual(["fresh"]);
  expect(resources.filter(({ id }) => id === imported)).toEqual([]);

  program.write(source("fresh", "first", `, adopt: "${fresh}", deleteAdopted: true`) + group("imported"));
  const up = await program.must("up", "--yes", "--skip-preview");
  // It still reports the other one.
  expect(up.output).toContain(
    "creates a group, and one with the same parent and fields exists; no intent journal here",
  );
  expect(up.output).toContain(`group ${imported} "imported", created `);
  await program.must("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
  expect(program.state().pending).toEqual([]);
  expect((await pending(program)).output).toBe("no create is unfinished\n");
  await program.must("preview", "--expect-no-changes");
  await program.must("destroy", "--yes", "--skip-preview");
  expect(place.place.rows("groups", "name = ?", "fresh")).toEqual([]);
  expect(place.place.rows("groups", "name = ?", "imported").map(({ uid }) => uid)).toEqual([imported]);
});
