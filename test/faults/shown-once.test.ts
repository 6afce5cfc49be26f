// Lost responses of creates that do more than create a record (docs/faults.md#f3, docs/faults.md#f20). Only the response to an
// invite has its code. The create of a tag moves an existing tag.
import { describe, expect, test } from "vitest";
import type { Json } from "../../schema/index.ts";
import { readState } from "../harness/small-engine/state.ts";
import { killedAt, type Scenario, STACK, type Stage, type Step, scenario } from "./scenario.ts";

const LOST_CODE =
  /but the response that shows its code was lost\. The service shows it once, so it cannot be recovered\./;

const after: Step = { at: "after", reset: true };
const losing =
  (...steps: Step[]): NonNullable<Scenario["script"]> =>
  ({ operation }) => ({ rules: [{ operation, steps }] });

/** The run that finds the record, after the engine's process was killed with the response. */
const killedAndRun = async (stage: Stage) => {
  await killedAt("after reply")(stage);
  return stage.engine.run("up", stage.subject.after);
};

const outputsOf = ({ testbed }: Stage): Json =>
  readState(testbed.stateFile(STACK)).resources.find(({ name }) => name === "subject")?.outputs ?? {};

/** The state has the code of the only invite, which is not the lost one. */
const expectCode = async (stage: Stage): Promise<void> => {
  const { code, uid } = outputsOf(stage) as { code?: string; uid: string };
  expect(code).toMatch(/^cginvite_/);
  const invites = [...(await stage.testbed.records()).values()].filter((record) => "keyId" in record);
  expect(invites.map((invite) => invite.uid)).toEqual([uid]);
  for (const text of stage.testbed.texts().filter((one) => one.includes('"intent"'))) expect(text).not.toContain(code);
};

describe.concurrent("a group invite whose response is lost", () => {
  test.each<[string, Partial<Scenario>]>([
    ["by a reset after the commit", { script: losing(after), attempts: 1 }],
    ["by a reset before the commit, and one after it", { script: losing({ reset: true }, after), attempts: 2 }],
    ["with the engine's process", { act: killedAndRun, attempts: 1 }],
  ])("%s is an error about the missing code, and the next run replaces the invite", (_, row) =>
    scenario({
      kind: "groupInvite",
      action: "create",
      ...row,
      fails: LOST_CODE,
      seen: (stage) => expect(outputsOf(stage).code).toBeUndefined(),
      afterwards: ["up"],
      settled: expectCode,
    }),
  );
});

describe.concurrent("a tag whose response is lost", () => {
  test.each<[string, Partial<Scenario>]>([
    ["by a reset after the commit", { script: losing(after), attempts: 1 }],
    ["by a reset before the commit, and one after it", { script: losing({ reset: true }, after), attempts: 2 }],
    ["with the engine's process", { act: killedAndRun, attempts: 1 }],
  ])("%s is found and owned", (_, row) => scenario({ kind: "tag", action: "create", ...row }));
});
