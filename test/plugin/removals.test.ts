// What a preview says of resources that leave the program, in a language whose programs do not report it themselves; and which engines call
// the plugin for all resources of a program.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished, test } from "vitest";
import {
  type CheckedResource,
  type EngineOptions,
  type EngineRun,
  engineOptions,
  type ProgramNotes,
  programNotes,
} from "../../plugin/program.ts";
import { isOtherLanguage, type RemovalParts, removalsWith } from "../../plugin/removals.ts";
import { kindRecords } from "../../provider/kind/index.ts";
import { noStoredStacks } from "../../provider/run/stored-stack.ts";
import { engineStateFrom, type StateResource } from "../../pulumi/state.ts";
import type { Json } from "../../schema/index.ts";
import { urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const PROVIDER = "urn:pulumi:stack::project::pulumi:providers:irm::default::p-1";
const GROUP = "0123456789abcdef0123456789abcdef01234567";
const uid = (number: number): string => `${GROUP}/${String(number).repeat(16)}`;

const stored = (type: string, name: string, outputs: Json, own: Partial<StateResource> = {}) => ({
  ...{ urn: urnOf(type, name), type: `irm:index:${type}`, custom: true, id: outputs.uid, provider: PROVIDER },
  ...{ inputs: {}, outputs, ...own },
});
const binding = (name: string, number: number, own: Partial<StateResource> = {}) => {
  const named = {
    identity: { uid: uid(8), name: "ci" },
    role: { uid: uid(9), name: "viewer" },
    group: { name: "team" },
  };
  return stored("RoleBinding", name, { uid: uid(number), ...named }, own);
};
const exported = (resources: object[]) =>
  engineStateFrom({ deployment: { manifest: { time: "2026-01-01T00:00:00Z" }, resources } });

const HEAD = "What the program no longer declares, unless it has failed:";
const removed = (name: string) => `RoleBinding ${name} is removed: identity "ci", role "viewer", group "team"`;

const runWith = (resources: object[], own: Partial<RemovalParts> = {}) => {
  const lines: string[] = [];
  const notes: ProgramNotes = own.notes ?? programNotes();
  let reads = 0;
  const removals = removalsWith({
    ...{ notes, provider: PROVIDER, run: "preview", isOtherLanguage: () => true },
    readState: async () => {
      reads += 1;
      return exported(resources);
    },
    declares: async () => () => false,
    log: (text) => void lines.push(text),
    ...own,
  });
  return { notes, removals, lines, reads: () => reads };
};

const checked = (type: string, name: string, own: Partial<CheckedResource> = {}): CheckedResource => ({
  ...{ urn: urnOf(type, name), type, kind: undefined, isNew: false, asked: {}, inputs: {} },
  ...{ isRefused: false, isOfClass: false, ...own },
});

it("at the end of a preview, what leaves the program is named, and nothing that stays", async () => {
  const { notes, removals, lines } = runWith(
    [
      binding("declared", 1),
      binding("gone", 2),
      binding("under another name", 3),
      binding("of another provider", 4, { provider: `${PROVIDER}-2` }),
      binding("read only", 5, { external: true }),
      binding("retained", 6, { retainOnDelete: true }),
      binding("replaced before", 7, { delete: true }),
      { urn: urnOf("AccessPolicy", "acme"), type: "irm:index:AccessPolicy", outputs: {} },
      stored("Group", "adopted", { uid: uid(1), name: "adopted", adopted: true }),
      stored("RoleBindingSet", "set", { uid: GROUP, bindings: [{ ...binding("x", 2).outputs, uid: uid(3) }] }),
      stored("Identity", "old", {
        ...{ uid: uid(8), name: "ci" },
        claimMatch: { issuer: "https://issuer.example", subject: { "4dabf18193072939515e22adb298388d": SECRET } },
      }),
    ],
    { declares: async () => (id) => id === uid(3) },
  );
  notes.noteCheck(checked("RoleBinding", "declared"));
  const release = { parent: GROUP, name: "ci", claimMatch: { issuer: "https://issuer.example", subject: "s" } };
  const { identity } = kindRecords;
  notes.noteCheck(checked("Identity", "release", { kind: identity, isNew: true, asked: release, inputs: release }));
  await removals.report();
  expect(lines).toEqual([
    [
      HEAD,
      removed("gone"),
      `Group adopted is no longer in the program: group ${uid(1)} was adopted and stays`,
      `RoleBindingSet set is removed:\n  - leaves "ci" as "viewer" to a RoleBinding: role binding ${uid(3)} stays`,
      "Identity old is removed:",
      `  - workflows that name ${uid(8)} in IRM_IDENTITY can no longer sign in`,
      '  - who could assume it: a workload whose token has issuer "https://issuer.example" and subject "[secret]"',
      "  - Identity release takes its place with another uid. To keep the record, name the former resource in aliases, or the former key of a policy as was",
    ].join("\n"),
  ]);
});

const isPreview = (notes: ProgramNotes) => void Object.assign(notes, { isPreview: true });
const refused = checked("Group", "g", { isRefused: true });
const inTypescript = (notes: ProgramNotes) => notes.noteCheck(checked("Group", "g", { isOfClass: true }));
const inComponent = (notes: ProgramNotes) =>
  inTypescript(Object.assign(notes, { hasComponent: true, isPreview: true }));
it.each<[string, boolean, EngineRun | undefined, ((notes: ProgramNotes) => void)?, Partial<RemovalParts>?]>([
  ["a preview", true, "preview"],
  ["an update that begins with its preview", true, "either", isPreview],
  ["an update that has no step of this provider", true, "either"],
  ["the update itself", false, "either", (notes) => void Object.assign(notes, { isPreview: false })],
  ["an update without a preview", false, "update"],
  ["a command that is not known, or leaves out resources", false, undefined],
  ["a new provider, of which the state has no resource", false, "preview", undefined, { provider: undefined }],
  ["a run in which a call failed", false, "preview", (notes) => void Object.assign(notes, { hasFailed: true })],
  ["a run in which a check refused a resource", false, "preview", (notes) => notes.noteCheck(refused)],
  ["a program in TypeScript, which reports it itself", false, "preview", inTypescript],
  ["a component, whose resources have the classes of TypeScript", true, "preview", inComponent],
  ["no call, and a project in TypeScript", false, "preview", undefined, { isOtherLanguage: () => false }],
])("at the end of a preview, %s: %s", async (_, isReported, run, note = () => undefined, own = {}) => {
  const { notes, removals, lines, reads } = runWith([binding("gone", 2)], { run, ...own });
  note(notes);
  removals.prepare();
  await removals.report();
  expect(lines).toEqual(isReported ? [`${HEAD}\n${removed("gone")}`] : []);
  expect(reads()).toBe(isReported ? 1 : 0);
});

it("at the end of a preview, a state that cannot be read in time is said, where something leaves", async () => {
  const failing = runWith([], { readState: () => noStoredStacks.engineState("organization/project/stack") });
  await failing.removals.report();
  const slow = runWith([], { readState: () => new Promise(() => undefined), timeoutMs: 10 });
  await slow.removals.report();
  expect([...failing.lines, ...slow.lines]).toEqual([
    "Cannot tell which resources leave the stack: this process was not started by an engine",
    "Cannot tell which resources leave the stack: the engine's state was not read within 0.01 s",
  ]);
  const { notes, removals, lines } = runWith([binding("declared", 1)]);
  notes.noteCheck(checked("RoleBinding", "declared"));
  await removals.report();
  expect(lines).toEqual([]);
});

const SECRET = "1b47061264138c4ac30d75fd1eb44270";

const { org, startProcess, created, compared } = await setUp();

it("the plugin compares the state with what the engine has checked, once the engine ends it", async () => {
  const kept = await created("Group", { parent: org, name: "kept" });
  const renamed = await created("Group", { parent: org, name: "renamed" });
  const stacks: string[] = [];
  const resources = [
    { ...stored("Group", "kept", kept.outs), urn: kept.urn },
    stored("Group", "former", renamed.outs),
    binding("gone", 2),
  ];
  const storedStacks = {
    ...noStoredStacks,
    engineState: async (stack: string) => {
      stacks.push(stack);
      return exported(resources);
    },
  };
  const env = { PULUMI_BACKEND_URL: "file:///state" };
  const options = { isWholeProgram: true, run: "preview" as const };
  const plugin = await startProcess(env, undefined, { options, storedStacks });
  await plugin.configure();
  for (const [name, one] of Object.entries({ kept, renamed })) await compared(one, { parent: org, name }, plugin);
  expect(plugin.messages).toEqual([]);
  await plugin.cancel();
  await plugin.cancel();
  expect(plugin.messages).toEqual([`${HEAD}\n${removed("gone")}`]);
  expect(new Set(stacks)).toEqual(new Set(["organization/project/stack"]));
});

it.each([
  ["python", true],
  [{ name: "python", options: {} }, true],
  ["nodejs", false],
  [{ name: "nodejs" }, false],
  ["bun", false],
  [null, false],
])("the runtime %j of a project is another language: %s", (runtime, expected) => {
  expect(isOtherLanguage(runtime)).toBe(expected);
});

/** Of an engine that was started with these arguments. */
const answerFor = async (program: string, options: readonly string[], env = {}): Promise<EngineOptions> => {
  const engine = spawn(process.execPath, ["-e", "process.stdin.resume(); console.log()", "--", ...options], {
    argv0: program,
  });
  // The system shows its arguments once it runs.
  await once(engine.stdout, "data");
  onTestFinished(() => void engine.kill());
  return engineOptions(engine.pid as number, env);
};

test.each<[string, boolean, string, string[], object?]>([
  ["all of it", true, "/usr/bin/pulumi", ["preview", "--stack", "target"]],
  ["all of it, by other options", true, "pulumi", ["up", "--yes", "-s", "dev", "-C", "."]],
  ["targets", false, "pulumi", ["up", "--target", "urn"]],
  ["targets", false, "pulumi", ["up", "--target=urn"]],
  ["targets, in short", false, "pulumi", ["up", "-t", "urn"]],
  ["targets, among short options", false, "pulumi", ["up", "-yt", "urn"]],
  ["all but some", false, "pulumi", ["up", "--exclude", "urn"]],
  ["all but some, in short", false, "pulumi", ["up", "-x", "urn"]],
  ["targets from the environment", false, "pulumi", ["up"], { PULUMI_OPTION_TARGET: "urn" }],
  ["what another program that holds an engine says", false, "node", ["up"]],
])("%s: %s for %s %j", async (_, expected, program, options, env) => {
  expect((await answerFor(program, options, env)).isWholeProgram).toBe(expected);
});

test.each<[EngineRun | undefined, string, string[]]>([
  ["preview", "a preview", ["preview", "--stack", "up"]],
  ["preview", "a preview by its short name, after other options", ["-C", ".", "pre"]],
  ["either", "an update with its preview", ["up", "--yes"]],
  ["either", "an update by its long name", ["update"]],
  ["update", "an update without a preview", ["up", "--yes", "--skip-preview"]],
  ["update", "the same, among short options", ["up", "-yf"]],
  ["either", "an update that says that it has one", ["up", "--skip-preview=false"]],
  [undefined, "a command that runs no program", ["destroy", "--preview-only"]],
  [undefined, "a command that is not known", ["neo"]],
])("%s: %s", async (expected, _, options) => expect((await answerFor("pulumi", options)).run).toBe(expected));

test("of a process that is gone, and of another program, nothing is known", async () => {
  const unknown = { isWholeProgram: false, run: undefined };
  expect(engineOptions(2 ** 30, {})).toEqual(unknown);
  expect(await answerFor("node", ["preview"])).toEqual(unknown);
});
