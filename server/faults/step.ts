// Selects the step that an attempt meets. It comes from the first rule for its operation with steps left, or else is random.
// The same script and the same order of attempts select the same steps.
import { createHash } from "node:crypto";
import type { OperationName } from "../../schema/index.ts";
import type { Script, Step } from "./script.ts";

export interface MetStep {
  step: Step;
  /** counted from 1 in the file */
  rule: number | "random";
  /** counted from 1 in the rule */
  place: number;
}

export const createFaultSteps = ({ rules, random }: Script): ((operation: OperationName) => MetStep | undefined) => {
  const taken = rules.map(() => 0);
  let drawn = 0;

  const nextScripted = (operation: OperationName): MetStep | undefined => {
    const rule = rules.findIndex(
      (entry, i) =>
        (entry.operation === "*" || entry.operation === operation) &&
        (entry.repeat || (taken[i] as number) < entry.steps.length),
    );
    if (rule < 0) return undefined;
    const { steps } = rules[rule] as Script["rules"][number];
    const place = (taken[rule] as number) % steps.length;
    taken[rule] = (taken[rule] as number) + 1;
    return { step: steps[place] as Step, rule: rule + 1, place: place + 1 };
  };

  const drawStep = (): MetStep | undefined => {
    if (!random) return undefined;
    const hash = createHash("sha256").update(`${random.seed}/${++drawn}`).digest();
    if (hash.readUInt32BE(0) / 2 ** 32 >= random.rate) return undefined;
    const place = hash.readUInt32BE(4) % random.steps.length;
    return { step: random.steps[place] as Step, rule: "random", place: place + 1 };
  };

  return (operation) => nextScripted(operation) ?? drawStep();
};
