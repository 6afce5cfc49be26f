// Tables of faults: each row is tried with every kind of resource and with each of its actions. The server counts the attempts.
import { describe, test } from "vitest";
import { KINDS } from "./judge.ts";
import { type Scenario, type Step, scenario } from "./scenario.ts";
import type { Action } from "./subject.ts";

export interface FaultRow {
  what: string;
  why: string;
  actions: Action[];
  /** the faults of the action's requests, one after the other */
  steps: Step[];
  row: Omit<Scenario, "kind" | "action" | "script">;
}

export const CHANGES: Action[] = ["update", "delete"];
export const ALL: Action[] = ["create", ...CHANGES];

/** The error of a run that does not know whether its create succeeded. */
export const UNKNOWN = /It is unknown whether the .+ (was|were) created\. The intent journal keeps the create/;

/** Each row with each kind. */
export const each = <T extends object>(rows: readonly T[]) =>
  rows.flatMap((row) => KINDS.map((kind) => ({ kind, ...row })));

/** Each action with each kind. */
export const acting = (actions: readonly Action[]) => each(actions.map((action) => ({ action })));

export const testFault = (name: string, rows: readonly FaultRow[]): void => {
  const cases = rows.flatMap(({ actions, row, steps, what, why }) =>
    acting(actions).map(({ action, kind }) => {
      const script: Scenario["script"] = ({ operation }) => ({ rules: [{ operation, steps }] });
      return { what, why, action, kind, run: { ...row, kind, action, script } };
    }),
  );
  describe.concurrent(name, () => {
    test.each(cases)("$what, $action of a $kind: $why", ({ run }) => scenario(run));
  });
};
