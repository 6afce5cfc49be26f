// kill -9 of a run without checkpoints, which leaves the engine's state as it was before the run (docs/internals/faults.md#f27).
import { expect, test } from "vitest";
import type { Json } from "../../schema/index.ts";
import { type Program, ref } from "../harness/small-engine/program.ts";
import { ADAPTERS, type Adapter } from "../harness/small-engine/provider.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import { startTestbed, type Testbed } from "../harness/small-engine/testbed.ts";
import { compareLiveAccess } from "../soak/live-access.ts";
import { type Foreign, judge, judgeDestroyed } from "./judge.ts";
import { STACK } from "./scenario.ts";

const subject = (of: string) => ({ issuer: "https://issuer.example.com", subject: of });

/** A program of every kind of resource that the random runs have. */
const before = (home: string): Program => [
  { name: "team", kind: "group", inputs: { parent: home, name: "team", description: "one" } },
  { name: "gone", kind: "group", inputs: { parent: home, name: "gone", description: "", allowReplace: true } },
  { name: "below", kind: "group", inputs: { parent: ref("gone"), name: "below", description: "" } },
  { name: "ci", kind: "identity", inputs: { parent: home, name: "ci", description: "", claimMatch: subject("ci") } },
  { name: "reads", kind: "role", inputs: { parent: home, name: "reads", description: "", capabilities: [GROUPS] } },
  { name: "writes", kind: "role", inputs: { parent: home, name: "writes", description: "", capabilities: [ROLES] } },
  { name: "ci-reads", kind: "roleBinding", inputs: { parent: ref("team"), identity: ref("ci"), role: ref("reads") } },
  { name: "set", kind: "roleBindingSet", inputs: { parent: home, bindings: [pair("ci", "reads")] } },
];

const [GROUPS, ROLES] = ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"];
const pair = (identity: string, role: string): Json => ({ identity: ref(identity), role: ref(role) });

/** It updates a group, moves a binding, changes a set, creates a tree, and deletes one: the last steps. */
const after = (home: string): Program => [
  { name: "team", kind: "group", inputs: { parent: home, name: "team", description: "two" } },
  { name: "new", kind: "group", inputs: { parent: ref("team"), name: "new", description: "first" } },
  { name: "newer", kind: "group", inputs: { parent: ref("new"), name: "newer", description: "" } },
  ...before(home).filter(({ name }) => ["ci", "reads", "writes"].includes(name)),
  { name: "ci-reads", kind: "roleBinding", inputs: { parent: ref("new"), identity: ref("ci"), role: ref("reads") } },
  { name: "ci-writes", kind: "roleBinding", inputs: { parent: ref("team"), identity: ref("ci"), role: ref("writes") } },
  { name: "set", kind: "roleBindingSet", inputs: { parent: home, bindings: [pair("ci", "writes")] } },
];

const changed = (home: string): Program =>
  after(home).map((one) => (one.name === "new" ? { ...one, inputs: { ...one.inputs, description: "second" } } : one));

interface Stage {
  testbed: Testbed;
  /** with checkpoints */
  engine: Engine;
  foreign: Foreign;
}

type Row = [follows: string, why: string, act: (stage: Stage) => Promise<Program>];

const up =
  (programOf: (home: string) => Program) =>
  async ({ testbed: { home }, engine }: Stage): Promise<Program> => {
    const program = programOf(home);
    expect((await engine.run("preview", program)).steps).not.toEqual([]);
    expect(engine.messages.join("\n")).toMatch(
      /stack organization\/faults\/\w+ is open: a run without checkpoints .* did not end/,
    );
    expect((await engine.run("up", program)).errors).toEqual([]);
    return program;
  };

const destroy = async ({ testbed, engine, foreign }: Stage): Promise<Program> => {
  expect((await engine.run("destroy")).errors).toEqual([]);
  expect(await judgeDestroyed(testbed, STACK, foreign)).toEqual([]);
  return [];
};

const REVERTED = "the reverted program";
const ROWS: Row[] = [
  ["the same program", "it adopts what was created", up(after)],
  [REVERTED, "it restores what was changed or deleted, and deletes the rest", up(before)],
  ["a changed program", "a record that it wants otherwise is deleted, and another one created", up(changed)],
  ["a destroy", "it deletes what the state lacks too", destroy],
];

/** A stack whose last run was killed after its last request. */
const killed = async (adapter: Adapter): Promise<Stage & { close(): Promise<void> }> => {
  const testbed = await startTestbed(adapter);
  const unchecked = testbed.engine(STACK, { pluginProcess: true, checkpoints: "off" });
  const foreign = await testbed.records();
  expect((await unchecked.run("up", before(testbed.home))).errors).toEqual([]);
  // The group that is deleted last: below, then gone, and the old binding.
  await unchecked.start("up", after(testbed.home), { point: "before state", of: "deleting", nth: 3 }).paused;
  await unchecked.kill();
  const close = async () => {
    await unchecked.kill();
    await testbed.close();
  };
  return { testbed, engine: testbed.engine(STACK, { checkpoints: "on" }), foreign, close };
};

// The rest: npm run soak:provider -- --checkpoints off.
const cases = ROWS.flatMap(([follows, why, act]) =>
  ADAPTERS.filter((adapter) => adapter === "dynamic" || follows === REVERTED).map((adapter) => ({
    ...{ adapter, follows, why, act },
  })),
);

test.concurrent.each(cases)(
  "F27: a run without checkpoints is killed: $follows follows: $why ($adapter)",
  async ({ adapter, act }) => {
    const { close, ...stage } = await killed(adapter);
    const { testbed, engine, foreign } = stage;
    try {
      const program = await act(stage);
      expect(await compareLiveAccess(testbed, program, foreign)).toEqual([]);
      expect((await judge(testbed, STACK, engine, program, foreign)).problems).toEqual([]);
      // It is not open any more.
      expect(engine.messages.splice(0)).not.toEqual([]);
      await engine.run("preview", program);
      expect(engine.messages.join("\n")).not.toContain("is open");
    } finally {
      await close();
    }
  },
);

/** A set beside two identities. */
const shared = (home: string, identities: readonly string[], members: readonly string[]): Program => [
  ...before(home).filter(({ name }) => name === "reads"),
  ...identities.map((name) => ({
    name,
    kind: "identity" as const,
    inputs: { parent: home, name, description: "", claimMatch: subject(name) },
  })),
  {
    name: "set",
    kind: "roleBindingSet",
    inputs: { parent: home, bindings: members.map((name) => pair(name, "reads")) },
  },
];

test.each(ADAPTERS)(
  "F27: the pair of a set whose response never came goes with its identity, which the program no longer has (%s)",
  async (adapter) => {
    const testbed = await startTestbed(adapter);
    const unchecked = testbed.engine(STACK, { pluginProcess: true, checkpoints: "off" });
    try {
      const foreign = await testbed.records();
      const both = ["ci", "bot"];
      expect((await unchecked.run("up", shared(testbed.home, both, ["ci"]))).errors).toEqual([]);
      const killed = { point: "after reply", of: "POST" } as const;
      await unchecked.start("up", shared(testbed.home, both, both), killed).paused;
      await unchecked.kill();
      const engine = testbed.engine(STACK, { checkpoints: "on" });
      // The set has another pair, so it is updated.
      const program = shared(testbed.home, ["ci", "new"], ["ci", "new"]);
      expect((await engine.run("up", program)).errors).toEqual([]);
      expect(await compareLiveAccess(testbed, program, foreign)).toEqual([]);
      expect((await judge(testbed, STACK, engine, program, foreign)).problems).toEqual([]);
    } finally {
      await unchecked.kill();
      await testbed.close();
    }
  },
);
