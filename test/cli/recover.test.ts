// `irm recover`, and what `irm recover list` says of a run without checkpoints, with an engine that prints a state.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { placeAndTime, stampText } from "../../provider/record/id.ts";
import { isGroupThere, startSharedService } from "../harness/provider.ts";
import { createGroup, createWorld, type Stored, type World } from "../provider/attribution/world.ts";
import { exactFailure, failure, runIrm, success } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const service = await startSharedService();
const organization: string = service.organization as string;
const folder = testFolder();
let world: World;
let parent: string;
let kept: Stored;

/** An engine on the PATH: the selected stack, a state with these records, and the runs that ended. */
const useEngine = (state: object | undefined, runs: readonly object[] = []): void => {
  const printed =
    state === undefined ? `echo "error: no stack" >&2; exit 1` : `cat <<'END'\n${JSON.stringify(state)}\nEND`;
  const script = `#!/bin/sh
args="$*"
case "\${args% --non-interactive --color never}" in
  "stack --show-name --fully-qualify-stack-names") echo organization/project/stack ;;
  "stack --show-name --fully-qualify-stack-names --stack other") echo organization/project/other ;;
  "stack export --stack organization/project/"*)
    ${printed}
    ;;
  "stack history "*) echo '${JSON.stringify(runs)}' ;;
  *) echo "error: unexpected $*" >&2; exit 1 ;;
esac
`;
  chmodSync(folder.write("bin/pulumi", script), 0o755);
  vi.stubEnv("PATH", `${folder.path("bin")}:/usr/bin:/bin`);
};

const stateWith = (...resources: readonly Stored[]) => ({
  deployment: {
    manifest: { time: new Date(service.clock.today()).toISOString() },
    resources: resources.map(({ id, name, outs }) => ({
      ...{ urn: `urn:pulumi:stack::project::irm:index:Group::${name}`, type: "irm:index:Group", id, custom: true },
      outputs: outs,
    })),
  },
});

beforeEach(async ({ task }) => {
  world = createWorld(service);
  parent = (await createGroup(service, organization, task.id)).uid;
  world.env = { PULUMI_BACKEND_URL: "file:///backend" };
  folder.write("project/Pulumi.yaml", "name: project\nruntime: nodejs\n");
  const env = { ...service.env, ...world.env, IRM_JOURNAL: world.journal, CI: undefined };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  vi.spyOn(process, "cwd").mockReturnValue(folder.path("project"));
  kept = await world.run().create("group", "kept", { parent, name: "kept" });
  world.save(kept);
  useEngine(stateWith(kept));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const leave = async (): Promise<[string, string]> => {
  let uids: [string, string] = ["", ""];
  await world.killed(async (run) => {
    await run.update(kept, { parent, name: "kept", description: "two" });
    const top = await run.create("group", "top", { parent, name: "top" });
    uids = [top.id, (await run.create("group", "below", { parent: top.id, name: "below" })).id];
  });
  return uids;
};

const NOTHING = "no killed run has left anything of this stack behind\n";

it("lists what a killed run created and exits with 3; with --yes it deletes that, what is below first", async () => {
  const [top, below] = await leave();
  const listed = await runIrm("recover");
  expect({ code: listed.code, stderr: listed.stderr }).toEqual({ code: 3, stderr: "" });
  expect(listed.stdout).toMatch(
    new RegExp(
      `^stack organization/project/stack is open: the engine's state lacks 2 creates, 1 update
  a run without checkpoints that began at \\S+, process 99999999 on \\S+, did not end
  Group::top: group ${top} "top", created \\S+
  Group::below: group ${below} "below", created \\S+
\`npx pulumi-irm recover --yes\` deletes 2 records; \`pulumi up\` first adopts what the program declares
\`pulumi up\`, or \`pulumi refresh\`, compares what was changed or deleted
$`,
    ),
  );
  expect(await isGroupThere(service, top)).toBe(true);

  const removed = { kind: "group", created: expect.any(String), removed: true };
  const { code, stdout } = await runIrm("recover", "--yes", "--format", "json");
  expect({ code, ...JSON.parse(stdout) }).toEqual({
    code: 0,
    stack: "organization/project/stack",
    runs: [{ began: expect.any(String), host: expect.any(String), pid: 99_999_999, verdict: "lost" }],
    changed: [{ uid: kept.id, kind: "group", key: "organization/project/stack/Group::kept", change: "updated" }],
    records: [
      { ...removed, uid: top, key: expect.stringMatching(/Group::top$/) },
      { ...removed, uid: below, key: expect.stringMatching(/Group::below$/) },
    ],
  });
  expect([await isGroupThere(service, top), await isGroupThere(service, below)]).toEqual([false, false]);
  expect(await isGroupThere(service, kept.id)).toBe(true);
});

it("names what blocks a deletion, and exits with 1", async () => {
  const [top, below] = await leave();
  await createGroup(service, below, "of others");
  const { code, stdout, stderr } = await runIrm("recover", "--yes");
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("deletes 2 records") });
  expect(stderr).toMatch(
    new RegExp(
      `^irm recover: Group::below: group ${below} .* is left: FAILED_PRECONDITION: .*cannot delete group with child groups\n.*; group \\S+ "of others"$`,
      "m",
    ),
  );
  expect(await isGroupThere(service, top)).toBe(true);
});

it("deletes nothing that it is not certain of, and says why", async () => {
  const [, below] = await leave();
  await service.call("UpdateGroup", { group: { uid: below, description: "by hand" }, updateMask: "description" });
  const { code, stdout, stderr } = await runIrm("recover", "--yes");
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("Group::top") });
  expect(stdout).toContain(
    "Look at the records in doubt. Adopt or delete each, then: npx pulumi-irm recover clean --key KEY\n",
  );
  expect(stdout).toMatch(/^ {2}Group::below: group .* \(differs from what was requested\)$/m);
  expect(await isGroupThere(service, below)).toBe(true);
});

it("says so where nothing is open", async () => expect(await runIrm("recover")).toEqual(success(NOTHING)));

it.each([
  [() => useEngine(undefined), "the engine's state cannot be read: pulumi stack export: no stack"],
  [() => vi.stubEnv("PATH", folder.path("nothing")), /^irm recover: no stack is selected \(.*\); give --stack$/m],
  [
    () => vi.spyOn(process, "cwd").mockReturnValue("/"),
    "there is no Pulumi.yaml in this folder, or it names no project",
  ],
  [() => vi.stubEnv("IRM_BASE_URL", undefined), "IRM_BASE_URL"],
])("fails with one message where it cannot tell: %#", async (act, text) => {
  await leave();
  act();
  expect(await runIrm("recover", "--yes")).toEqual(failure(1, text));
});

it("leaves the journals of other stacks, backends and services alone", async () => {
  const [top] = await leave();
  vi.stubEnv("PULUMI_BACKEND_URL", "file:///another");
  expect((await runIrm("recover", "--yes")).stdout).toBe(NOTHING);
  expect((await runIrm("recover", "--yes", "--stack", "other")).stdout).toBe(NOTHING);
  expect(await isGroupThere(service, top)).toBe(true);
});

const HOUR_MS = 3_600_000;

describe("irm recover on a machine without the journal of a killed run", () => {
  const fields = { name: "lost", description: "of the killed run" };
  let lost: string;
  let pending: { type: string; resource: Record<string, unknown> };

  beforeEach(async () => {
    // Nothing of that run is still under way.
    vi.stubEnv("IRM_REQUEST_TIMEOUT", "1");
    // Before this process began, so that the operation is none of its own.
    const [at, startedAt] = [(await service.session.serviceNow()) - HOUR_MS, Date.now() - HOUR_MS];
    const inputs = { parent, ...fields, ...placeAndTime(service.session.service, stampText({ at, startedAt })) };
    const urn = "urn:pulumi:stack::project::irm:index:Group::lost";
    pending = { type: "creating", resource: { urn, type: "irm:index:Group", custom: true, inputs, outputs: {} } };
    lost = (await createGroup(service, parent, fields.name, fields.description)).uid;
  });

  const useState = (updates: number, resource = {}, ...stored: Stored[]) => {
    const { resources } = stateWith(kept, ...stored).deployment;
    // A real engine has the clock of this machine, as the command has.
    const manifest = { time: new Date().toISOString() };
    const started = new Date(Date.now() + 60_000).toISOString();
    const runs = Array.from({ length: updates }, () => ({ kind: "update", startTime: started, result: "succeeded" }));
    const operation = { ...pending, resource: { ...pending.resource, ...resource } };
    useEngine({ deployment: { manifest, resources, pending_operations: [operation] } }, runs);
  };

  it("deletes what the run created, and the program of the update after it did not declare", async () => {
    useState(1);
    expect(await runIrm("recover")).toEqual({
      code: 3,
      stdout: expect.stringMatching(
        new RegExp(
          `^stack organization/project/stack: runs were killed during these creates, .*\n {2}Group::lost: group ${lost} "lost", created \\S+\n`,
        ),
      ),
      stderr: "",
    });
    expect((await runIrm("recover", "--yes")).code).toBe(0);
    expect(await isGroupThere(service, lost)).toBe(false);
    expect(await isGroupThere(service, kept.id)).toBe(true);
  });

  const alike = () => createGroup(service, parent, fields.name, fields.description);
  const edit = () =>
    service.call("UpdateGroup", { group: { uid: lost, description: "by hand" }, updateMask: "description" });
  const nothing = async () => {};
  it.each<[string, act: () => Promise<unknown>, updates: number, resource: object, doubt: string]>([
    ["a second update has succeeded", nothing, 2, {}, "2 updates have succeeded since"],
    ["the resource was protected", nothing, 1, { protect: true }, "had protect or retainOnDelete on it"],
    ["another record is equal", alike, 1, {}, "others are like it"],
    ["it is not what was sent", edit, 1, {}, "it was changed since, or somebody else created it"],
  ])("names the record and why it stays where %s", async (_why, act, updates, resource, doubt) => {
    await act();
    useState(updates, resource);
    const { code, stdout } = await runIrm("recover", "--yes");
    expect(code).toBe(3);
    expect(stdout).toContain(doubt);
    expect(stdout).toContain(
      "Look at the records in doubt. Adopt or delete each, then: pulumi refresh --clear-pending-creates\n",
    );
    expect(await isGroupThere(service, lost)).toBe(true);
  });

  it("deletes nothing while a run of the stack saves its state", async () => {
    useState(1);
    // After the first answer, the state has another time.
    const bin = folder.path("bin");
    const script = readFileSync(`${bin}/pulumi`, "utf8");
    writeFileSync(`${bin}/later`, script.replaceAll(/"time":"\d+/g, '"time":"2999'), { mode: 0o755 });
    writeFileSync(`${bin}/pulumi`, script.replace(/^ {4};;$/m, `    mv ${bin}/later ${bin}/pulumi\n    ;;`));
    expect(await runIrm("recover", "--yes")).toEqual(
      exactFailure(1, "irm recover: a run of organization/project/stack is under way: wait for its end\n"),
    );
    expect(await isGroupThere(service, lost)).toBe(true);
  });

  it("finds nothing where another resource has the record", async () => {
    useState(1, {}, { ...kept, id: lost, name: "taken" });
    expect((await runIrm("recover", "--yes")).stdout).toBe(NOTHING);
    expect(await isGroupThere(service, lost)).toBe(true);
  });
});

it("irm recover list shows an open run, and one that ended", async () => {
  await leave();
  expect((await runIrm("recover", "list")).stdout).toMatch(
    /^open {7}\S+ {2}organization\/project\/stack {2}a run without checkpoints, process 99999999 on \S+, did not end: 2 creates, 1 update\n$/,
  );
  const ended = new AbortController();
  await world.run({ isUnchecked: true, cancelled: ended.signal }).create("group", "more", { parent, name: "more" });
  ended.abort();
  expect((await runIrm("recover", "list")).stdout).toMatch(
    /^ended {6}\S+ {2}organization\/project\/stack {2}a run without checkpoints, .* ended; the next run of the stack checks that the engine has saved its state: 1 create$/m,
  );
});

it("irm recover list shows an open run of which nothing is left to settle", async () => {
  await world.killed((run) => run.create("group", "only", { parent, name: "only" }));
  expect((await runIrm("recover", "clean", "--key", "organization/project/stack/Group::only")).code).toBe(0);
  expect((await runIrm("recover", "list")).stdout).toMatch(/, did not end; nothing of it is left to settle\n$/);
});

it("irm recover list keeps open runs after irm recover clean --key, and none after --all", async () => {
  await leave();
  expect((await runIrm("recover", "clean", "--key", "organization/project/stack/Group::below")).code).toBe(0);
  expect(world.contents().runs).toHaveLength(1);
  expect((await runIrm("recover", "clean", "--all")).code).toBe(0);
  expect((await runIrm("recover", "list")).stdout).toMatch(/^no pending creates: no entries in /);
});
