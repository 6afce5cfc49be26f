// What goes wrong between an apply and the service: answers that are lost, throttling, and requests that are held while something is killed.
import type { Change } from "../../../access/change/change.ts";
import type { OperationName } from "../../../schema/index.ts";
import { faultsOf } from "../../harness/api-process.ts";
import type { Workplace } from "../../harness/engine-workplace.ts";
import type { Random } from "../../support/random.ts";

type Place = Pick<Workplace, "server">;

export const endFaults = async ({ server }: Place): Promise<void> => {
  await faultsOf(server, {});
  await fetch(`${server.baseUrl}/faults/release`, { method: "POST" });
};

const operationsOf = ({ writes }: Change): OperationName[] => {
  const methods = new Set(writes.map(({ method }) => method));
  return [...methods, ...(methods.has("CreateRoleBinding") ? ["BatchCreateRoleBindings"] : [])] as OperationName[];
};

/** The first answer to each kind of write is lost. */
export const loseAnswers = async ({ server }: Place, change: Change): Promise<void> => {
  const rules = operationsOf(change).map((operation) => ({
    operation,
    steps: [{ at: "after" as const, reset: true as const }],
  }));
  await faultsOf(server, { rules });
};

export const throttle = async ({ server }: Place, random: Random): Promise<void> => {
  const steps = [{ status: 429, retryAfter: 1 }];
  await faultsOf(server, { random: { rate: 0.1, seed: random.below(1_000_000), steps } });
};

/** One write is held, before the service carries it out or after. Undefined: the change has none. */
export const holdWrite = async (
  { server }: Place,
  change: Change,
  random: Random,
): Promise<OperationName | undefined> => {
  const operation = random.pick(operationsOf(change));
  if (operation === undefined) return undefined;
  const passed = Array.from({ length: random.below(3) }, () => ({ delay: "1ms" }));
  const held = { at: random.pick(["before", "after"] as const), hold: true as const };
  await faultsOf(server, { rules: [{ operation, steps: [...passed, held] }] });
  return operation;
};

/** Whether the write is held now. */
export const isHeld = async ({ server }: Place): Promise<boolean> => {
  const { faults: script, attempts } = await faultsOf(server);
  const [rule] = script.rules ?? [];
  return rule !== undefined && attempts.some((one) => one.rule === 1 && one.step === rule.steps.length);
};
