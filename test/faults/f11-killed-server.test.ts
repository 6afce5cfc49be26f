// kill -9 of the server with a request of every kind under way, and a start on the same file and port (docs/faults.md#f11).
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Json, OperationName } from "../../schema/index.ts";
import type { FaultScript } from "../../server/index.ts";
import { faultsOf } from "../harness/api-process.ts";
import { createWorkplace } from "../harness/engine-workplace.ts";
import { furnish, type LiveRecord, ownerOf } from "../harness/small-engine/owner.ts";
import type { Program } from "../harness/small-engine/program.ts";
import { engineIn } from "../harness/small-engine/run.ts";
import { readState } from "../harness/small-engine/state.ts";
import { filesBelow } from "../harness/small-engine/testbed.ts";
import { temporaryFolder } from "../support/command.ts";
import { judge, judgeDestroyed, KINDS } from "./judge.ts";
import { STACK } from "./scenario.ts";
import { type Action, subjectOf } from "./subject.ts";

const POLL_MS = 20;

/** A server in a separate process with its own file, and an engine in this one. */
const startKillable = async () => {
  const files = temporaryFolder();
  const script = files.write("faults.yaml", "rules: []");
  const place = await createWorkplace(["--faults", script, "--log-level", "debug"]);
  const { folder, server, restart } = place;
  const owner = await ownerOf(server);
  const { home } = await furnish(owner, server.organization);
  const faults = (set?: FaultScript) => faultsOf(place.server, set);
  const stateFile = (name: string): string => join(folder, `${name}.state.json`);
  const stack = `organization/faults/${STACK}`;
  const pace = { startMs: Date.now(), speed: 1 };
  const engine = (env: Record<string, string> = {}) =>
    engineIn({ adapter: "dynamic", stateFile: stateFile(STACK), stack, pace }, async () => ({
      ...{ ...place.env, PULUMI_BACKEND_URL: `file://${folder}`, ...env },
    }));
  return {
    ...{ ...owner, home, stateFile, engine, faults, restart },
    /** resolves when a request of each operation has arrived, carried out or not */
    waitForRequests: async (operations: OperationName[], carriedOut: boolean): Promise<void> => {
      for (;;) {
        const { attempts } = await faults();
        const there = attempts.filter((one) => one.carriedOut === carriedOut).map((one) => one.operation);
        if (operations.every((operation) => there.includes(operation))) return;
        await setTimeout(POLL_MS);
      }
    },
    texts: () => [server.log(), place.server.log(), ...filesBelow(folder)],
    close: async () => {
      await place.close();
      files.remove();
    },
  };
};

/** The subjects of all kinds in one program, with their dependencies. */
const programOf = (action: Action, when: "before" | "after", home: string): Program => [
  ...subjectOf("roleBinding", action, home)[when].filter(({ name }) => name !== "subject"),
  ...KINDS.flatMap((kind) =>
    subjectOf(kind, action, home)
      [when].filter(({ name }) => name === "subject")
      .map((one) => ({ ...one, name: `subject-${kind}` })),
  ),
];

/** A record without its times. */
const withoutTimes = ({ lastSeenTime: _, createTime: __, updateTime: ___, ...record }: LiveRecord): Json => record;

const POINTS = [
  { point: "before they are committed", at: "before" },
  { point: "after they are committed, and before the reply", at: "after" },
] as const;

const ROWS = (["create", "update", "delete", "replace"] as const).flatMap((action) =>
  POINTS.map((point) => ({ action, ...point })),
);

test.concurrent.each(ROWS)(
  "F11: kill -9 of the server: during a $action of every kind, $point",
  async ({ action, at }) => {
    const testbed = await startKillable();
    try {
      const foreign = await testbed.records();
      const engine = testbed.engine();
      const [before, after] = [programOf(action, "before", testbed.home), programOf(action, "after", testbed.home)];
      expect(await engine.run("up", before)).toMatchObject({ errors: [] });
      const acknowledged = await testbed.records();

      const operations = KINDS.map((kind) => subjectOf(kind, action, testbed.home).operation);
      await testbed.faults({ rules: operations.map((operation) => ({ operation, steps: [{ at, hold: true }] })) });
      const run = engine.run("up", after);
      await testbed.waitForRequests(operations, at === "after");
      await testbed.restart(async () => expect((await run).errors).toHaveLength(KINDS.length));

      const live = await testbed.records();
      const committed = at === "after" ? KINDS.length : 0;
      const made = [...live.keys()].filter((uid) => !acknowledged.has(uid));
      const gone = [...acknowledged.keys()].filter((uid) => !live.has(uid));
      const changed = [...acknowledged].filter(([uid, record]) => {
        const now = live.get(uid);
        return now && JSON.stringify(withoutTimes(now)) !== JSON.stringify(withoutTimes(record));
      });
      expect({ made: made.length, changed: changed.length, gone: gone.length }).toEqual({
        made: action === "create" || action === "replace" ? committed : 0,
        changed: action === "update" ? committed : 0,
        gone: action === "delete" ? committed : 0,
      });

      // It waits for requests in flight for at most the timeout of one of its own.
      const next = testbed.engine({ IRM_REQUEST_TIMEOUT: "5" });
      expect(await next.run("up", after)).toMatchObject({ errors: [] });
      const resources = readState(testbed.stateFile(STACK)).resources.map(({ id }) => id);
      // Unacknowledged commits are adopted: nothing is created twice.
      if (action !== "delete") expect(resources).toEqual(expect.arrayContaining(made));
      expect((await judge(testbed, STACK, next, after, foreign)).problems).toEqual([]);
      expect(await next.run("destroy")).toMatchObject({ errors: [] });
      expect(await judgeDestroyed(testbed, STACK, foreign)).toEqual([]);
    } finally {
      await testbed.close();
    }
  },
);
