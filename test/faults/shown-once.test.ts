// Lost responses of creates that do more than create a record (docs/internals/faults.md#f3, docs/internals/faults.md#f20). Only the response to an
// invite has its code. The create of a tag moves an existing tag.
import { describe, expect, test } from "vitest";
import type { Json } from "../../schema/index.ts";
import { ADAPTERS } from "../harness/small-engine/provider.ts";
import { readState, secretIn } from "../harness/small-engine/state.ts";
import { killAt, type Scenario, STACK, type Stage, type Step, scenario } from "./scenario.ts";

const LOST_CODE =
  /but the response that shows its code was lost\. The service shows it once, so it cannot be recovered\./;

const after: Step = { at: "after", reset: true };
const losing =
  (...steps: Step[]): NonNullable<Scenario["script"]> =>
  ({ operation }) => ({ rules: [{ operation, steps }] });

/** The run that finds the record, after the engine's process was killed with the response. */
const killedAndRun = async (stage: Stage) => {
  await killAt("after reply")(stage);
  return stage.engine.run("up", stage.subject.after);
};

/** With the values of secrets. */
const outputsOf = ({ testbed }: Stage): Json => {
  const outputs = readState(testbed.stateFile(STACK)).resources.find(({ name }) => name === "subject")?.outputs ?? {};
  return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, secretIn(value) ?? value]));
};

const RESETS = [
  { how: "by a reset after the commit", row: { script: losing(after), attempts: 1 } },
  { how: "by a reset before and after it", row: { script: losing({ reset: true }, after), attempts: 2 } },
];
const KILL = { how: "with the engine's process", row: { act: killedAndRun, attempts: 1 } };
const rowsOf = (rows: { how: string; row: Partial<Scenario> }[]) =>
  ADAPTERS.flatMap((adapter) => rows.map((own) => ({ adapter, ...own })));

/** The state has the code of the only invite, which is not the lost one. */
const expectCode = async (stage: Stage): Promise<void> => {
  const { code, uid } = outputsOf(stage) as { code?: string; uid: string };
  expect(code).toMatch(/^cginvite_/);
  const invites = [...(await stage.testbed.records()).values()].filter((record) => "keyId" in record);
  expect(invites.map((invite) => invite.uid)).toEqual([uid]);
  for (const text of stage.testbed.texts().filter((one) => one.includes('"intent"'))) expect(text).not.toContain(code);
};

describe.concurrent("a group invite whose response is lost", () => {
  const CREATE = { kind: "groupInvite", action: "create", checkAfter: expectCode } as const;
  test.each(rowsOf(RESETS))(
    "$how is an error about the missing code, and the next run replaces the invite ($adapter)",
    (row) =>
      scenario({
        ...CREATE,
        adapter: row.adapter,
        ...row.row,
        fails: LOST_CODE,
        checkDuring: (stage) => expect(outputsOf(stage).code).toBeUndefined(),
        afterwards: ["up"],
      }),
  );

  test.each(ADAPTERS)(
    "with the engine's process is deleted by the next run, which creates another one (%s)",
    (adapter) => scenario({ ...CREATE, adapter, act: killedAndRun, attempts: 2 }),
  );
});

test.concurrent.each(rowsOf([...RESETS, KILL]))(
  "a tag whose response is lost $how is found and owned ($adapter)",
  ({ adapter, row }) => scenario({ kind: "tag", action: "create", adapter, ...row }),
);
