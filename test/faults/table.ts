// Tables of faults: each row is tried with each of its actions. The server counts the attempts.
import { describe, test } from "vitest";
import type { Adapter } from "../harness/small-engine/provider.ts";
import type { Watch } from "../harness/small-engine/run.ts";
import { KINDS } from "./judge.ts";
import { type Scenario, type Stage, type Step, scenario } from "./scenario.ts";
import type { Action } from "./subject.ts";

export type FaultRow = [
  what: string,
  why: string,
  actions: Action[],
  /** the faults of the action's requests, one after the other */
  steps: Step[],
  row: Omit<Scenario, "adapter" | "kind" | "action" | "script">,
];

export const CHANGES: Action[] = ["update", "delete"];
export const ALL: Action[] = ["create", ...CHANGES];

/** The error of a run that does not know whether its create succeeded. */
export const UNKNOWN = /It is unknown whether the .+ (was|were) created\. The intent journal keeps the create/;

// Real time in which a request must reach a server on loopback. Nothing else depends on it.
const HURRIED_MS = 3_000;

/** The timeout of its request is short, since no response arrives. */
export const runHurried = ({ engine, subject: { after, method } }: Stage, further: Watch = {}) =>
  engine.run("up", after, { shortTimeout: { ms: HURRIED_MS, method }, ...further });

export const carryOut = ({ testbed, subject }: Stage) => {
  testbed.server.faults?.release();
  return testbed.waitForAttempts(subject.operation, 1, true);
};

/** A create of an unknown outcome, which is committed after the run gave up. */
export const COMMITTED_LATE = {
  attempts: 1,
  act: (stage: Stage) => runHurried(stage),
  fails: UNKNOWN,
  checkDuring: carryOut,
};

export interface Tried {
  adapter: Adapter;
  kind: (typeof KINDS)[number];
}

const inTurn = (row: number): Tried["kind"] => KINDS[row % KINDS.length] as Tried["kind"];

/**
 * Each kind, with dynamic resources. Below its methods a plugin runs the same code, so a row runs through the plugin too only where the
 * plugin itself does something: `everyForm`, `throughPlugin`. (`npm run soak:provider` tries every kind with every fault, both ways.)
 */
export const everyKind = (): Tried[] => KINDS.map((kind) => ({ adapter: "dynamic", kind }));

/** Each kind, and one through the plugin, by the number of the row. */
export const everyForm = (row = 0): Tried[] => [...everyKind(), { adapter: "native", kind: inTurn(row) }];

/**
 * The kinds of an action in a row of a table, by the number of the row. What becomes of a lost create depends on the kind: which
 * record the create made is found by the fields of the kind. All kinds share the code of the other actions, and take turns.
 */
const kindsFor = (action: Action, row: number): Tried[] =>
  action === "create" ? everyKind() : [{ adapter: "dynamic", kind: inTurn(row) }];

/** Each action with its kinds; `row` is the number of the row in its table. */
export const acting = (actions: readonly Action[], row = 0) =>
  actions.flatMap((action, at) => kindsFor(action, row + at).map((tried) => ({ ...tried, action })));

/** Each action with a kind in turn, through the plugin. */
export const throughPlugin = (actions: readonly Action[], row = 0) =>
  actions.map((action, at): Tried & { action: Action } => ({ adapter: "native", kind: inTurn(row + at), action }));

export const testFault = (name: string, rows: readonly FaultRow[]): void => {
  const cases = rows.flatMap(([what, why, actions, steps, row], at) =>
    acting(actions, at).map((tried) => {
      const script: Scenario["script"] = ({ operation }) => ({ rules: [{ operation, steps }] });
      return { what, why, ...tried, run: { ...row, ...tried, script } };
    }),
  );
  describe.concurrent(name, () => {
    test.each(cases)("$what, $action of a $kind ($adapter): $why", ({ run }) => scenario(run));
  });
};
