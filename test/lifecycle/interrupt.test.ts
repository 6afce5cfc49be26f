// What a create leaves that the engine's end cuts off: docs/internals/faults.md#f10, docs/internals/faults.md#f12, docs/internals/faults.md#f21.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type { Started } from "../harness/engine-stack.ts";
import { openWorkplace, type Program, type ProgramOptions } from "../harness/engine-workplace.ts";
import { isRunning, processesBelow } from "../support/process.ts";
import { type Held, type HoldingProxy, startProxy } from "../support/proxy.ts";

const place = openWorkplace();
let proxy: HoldingProxy;
beforeAll(async () => {
  proxy = await startProxy(() => place.server.baseUrl);
});
afterAll(() => proxy.close());

const group = (name: string, description = "first", args = "") =>
  `new Group("${name}", { parent: process.env.ORG!, name: "${name}", description: "${description}"${args} });\n`;

const source = (groups: string, from = "pulumi-irm") => `import { Group } from "${from}";\n${groups}`;

const open = (name: string, text: string, options: ProgramOptions = {}) =>
  place.program(
    name,
    text,
    {
      ORG: place.server.organization,
      IRM_BASE_URL: proxy.url,
      // From the server itself: a token that was exchanged at the proxy would be for another audience.
      IRM_TOKEN: place.server.token,
      // A request that is held does not time out before its release, however slow the machine is.
      IRM_REQUEST_TIMEOUT: "600",
    },
    options,
  );

/** An update whose create of a group is held: before the service has it, or after. */
const startHeld = async (program: Program, at: "before" | "after"): Promise<{ run: Started; held: Held }> => {
  const held = proxy.hold("POST", /\/groups\//, at);
  const run = program.start("up", "--yes", "--skip-preview");
  const ended = run.result.then(({ output }) => Promise.reject(new Error(`it ended before that:\n${output}`)));
  await Promise.race([held.reached, ended]);
  return { run, held };
};

/** pid of the process that serves our resources: the SDK's dynamic provider, or the plugin (scripts/build/plugin.ts) */
const providerOf = (run: Started): number => {
  const [provider, ...others] = processesBelow(run.pid, /dynamic-provider|plugin\/start\.js/);
  if (provider === undefined || others.length > 0) throw new Error(`one provider process expected:\n${run.output()}`);
  return provider;
};

const groups = (name: string) => place.rows("groups", "name = ?", name);

/** L1, L2, L3 of docs/internals/faults.md#nothing-lost: the state has the group once. */
const expectOne = (program: Program, name: string): void => {
  const held = program.state().resources.filter(({ outputs }) => outputs?.name === name && outputs?.uid !== undefined);
  expect(held.map(({ id }) => id)).toEqual(groups(name).map(({ uid }) => uid));
  expect(held).toHaveLength(1);
  // A run that only adopted may have no journal.
  const journal = join(place.folder, "journal");
  expect(existsSync(journal) ? readdirSync(journal).filter((file) => file.endsWith(".lock")) : []).toEqual([]);
};

it("^C during a create and SIGTERM let the create of a dynamic resource finish and store it", async () => {
  const program = await open("signals", "", { ownProcess: true });
  const first = source(group("sigint"));
  for (const [signal, text] of [
    ["SIGINT", first],
    ["SIGTERM", first + group("sigterm")],
  ] as const) {
    program.write(text);
    const { run, held } = await startHeld(program, "after");
    process.kill(run.pid, signal);
    await expect.poll(run.output, { timeout: 60_000 }).toContain("received; cancelling.");
    held.release();
    expect((await run.result).code).not.toBe(0);
    expect(program.state().pending).toEqual([]);
    expectOne(program, signal.toLowerCase());
  }
});

it("^C during a create of the plugin ends the engine and all processes of the run at once, and the next up takes the record over", async () => {
  const text = source(group("interrupted"), "pulumi-irm/plugin");
  const program = await open("interrupted", text, { ownProcess: true, plugin: inject("pluginFolder") });
  const { run, held } = await startHeld(program, "before");
  const processes = processesBelow(run.pid, /./);
  expect(processes).toContain(providerOf(run));
  process.kill(run.pid, "SIGINT");
  // The request is still held.
  const { code, output } = await run.result;
  expect(code).not.toBe(0);
  expect(output).toContain("cancelled: the next update continues from the intent journal");
  await expect.poll(() => processes.filter(isRunning), { timeout: 5_000 }).toEqual([]);
  expect(program.state().pending).toEqual([]);
  expect(groups("interrupted")).toEqual([]);

  held.release();
  await expect.poll(() => groups("interrupted"), { timeout: 60_000 }).toHaveLength(1);
  const up = await program.must("up", "--yes", "--skip-preview");
  expect(up.output).toContain("created by an earlier run at");
  expectOne(program, "interrupted");
});

it("kill -9 of the engine during a create that the service carried out: after `pulumi cancel`, the next up adopts the record", async () => {
  const program = await open("created", source(group("created")), { ownProcess: true });
  const { run, held } = await startHeld(program, "after");
  const provider = providerOf(run);
  process.kill(run.pid, "SIGKILL");
  await run.exited;
  try {
    // The provider's process, and so its lock, lives on until its create has ended.
    const locked = await program.run("up", "--yes", "--skip-preview");
    expect(isRunning(provider)).toBe(true);
    expect(locked.code).not.toBe(0);
    expect(locked.output).toContain("the stack is currently locked by 1 lock(s)");
    held.release();
    await program.must("cancel", "--yes");
    const up = await program.must("up", "--yes", "--skip-preview");
    expect(up.output).toContain("created by an earlier run at");
    expect(up.output).toContain("interrupted while creating");
    await expect.poll(() => isRunning(provider), { timeout: 30_000, message: "the provider's process" }).toBe(false);
  } finally {
    if (isRunning(provider)) process.kill(provider, "SIGKILL");
  }
  expectOne(program, "created");
  await program.must("preview", "--expect-no-changes");

  // The engine keeps the pending operation until a refresh.
  expect(program.state().pending.map(({ type }) => type)).toEqual(["creating"]);
  await program.must("refresh", "--yes", "--skip-preview", "--clear-pending-creates");
  expect(program.state().pending).toEqual([]);
});

// The engine lives on, stores its state and ends with an error; nothing is locked.
it("an engine whose provider fails since it was killed during a create that the service carried out: the next up continues", async () => {
  const program = await open("provider", source(group("provider")));
  const { run, held } = await startHeld(program, "after");
  process.kill(providerOf(run), "SIGKILL");
  expect((await run.result).code).not.toBe(0);
  held.release();
  await program.must("up", "--yes", "--skip-preview");
  expectOne(program, "provider");
});

it("an engine whose provider fails since the service refuses the change of what it has adopted: that is recorded, and the next up applies the change", async () => {
  const uid = await place.create(`groups/${place.server.organization}`, { name: "half", description: "old" });
  const program = await open("half", source(group("half", "new", ', adopt: "match"')));
  const denied = { code: 7, message: "Permission denied: no", details: [] };
  const stop = proxy.answer("PATCH", /\/groups\//, 403, denied);
  const refused = await program.run("up", "--yes", "--skip-preview");
  stop();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain(`UpdateGroup group ${uid} "half": PERMISSION_DENIED: Permission denied: no`);
  const held = program.state().resources.find(({ id }) => id === uid);
  expect(held?.outputs).toMatchObject({ uid, description: "old", adopted: true });

  await program.must("up", "--yes", "--skip-preview");
  expectOne(program, "half");
  expect(groups("half").map((row) => [row.uid, row.body.description])).toEqual([[uid, "new"]]);
});
