// Tables of faults: each row is tried with each of its actions. The server counts the attempts.
import { describe, test } from "vitest";
import { ADAPTERS, type Adapter } from "../harness/small-engine/provider.ts";
import { KINDS } from "./judge.ts";
import { type Scenario, type Step, scenario } from "./scenario.ts";
import type { Action } from "./subject.ts";

export interface FaultRow {
  what: string;
  why: string;
  actions: Action[];
  /** the faults of the action's requests, one after the other */
  steps: Step[];
  row: Omit<Scenario, "adapter" | "kind" | "action" | "script">;
}

export const CHANGES: Action[] = ["update", "delete"];
export const ALL: Action[] = ["create", ...CHANGES];

/** The error of a run that does not know whether its create succeeded. */
export const UNKNOWN = /It is unknown whether the .+ (was|were) created\. The intent journal keeps the create/;

export interface Tried {
  adapter: Adapter;
  kind: (typeof KINDS)[number];
}

const inTurn = (row: number): Tried["kind"] => KINDS[row % KINDS.length] as Tried["kind"];

/**
 * With dynamic resources, each kind. A plugin runs the same code below its methods, so there the kinds take turns, by the number of the
 * row. (`npm run soak:provider` tries every kind with every fault, both ways.)
 */
export const everyKind = (row = 0): Tried[] => [
  ...KINDS.map((kind): Tried => ({ adapter: "dynamic", kind })),
  { adapter: "native", kind: inTurn(row) },
];

/** Each row with its kinds. */
export const each = <T extends object>(rows: readonly T[]) =>
  rows.flatMap((row, at) => everyKind(at).map((tried) => ({ ...tried, ...row })));

/**
 * The kinds of an action in a row of a table, by the number of the row. What becomes of a lost create depends on the kind: which
 * record the create made is found by the fields of the kind. All kinds share the code of the other actions, and take turns.
 */
export const kindsFor = (action: Action, row: number): Tried[] =>
  action === "create" ? everyKind(row) : ADAPTERS.map((adapter) => ({ adapter, kind: inTurn(row) }));

/** Each action with its kinds; `row` is the number of the row in its table. */
export const acting = (actions: readonly Action[], row = 0) =>
  actions.flatMap((action, at) => kindsFor(action, row + at).map((tried) => ({ ...tried, action })));

export const testFault = (name: string, rows: readonly FaultRow[]): void => {
  const cases = rows.flatMap(({ actions, row, steps, what, why }, at) =>
    acting(actions, at).map((tried) => {
      const script: Scenario["script"] = ({ operation }) => ({ rules: [{ operation, steps }] });
      return { what, why, ...tried, run: { ...row, ...tried, script } };
    }),
  );
  describe.concurrent(name, () => {
    test.each(cases)("$what, $action of a $kind ($adapter): $why", ({ run }) => scenario(run));
  });
};
