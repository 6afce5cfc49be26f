// What a user chooses: each choice is one `up` in the native form, measured once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBucket } from "./bucket.ts";
import type { Installation } from "./install.ts";
import type { Place } from "./place.ts";
import { sizeOf } from "./size.ts";
import { type MeasuredStack, openStack } from "./stack.ts";

export interface Choice {
  id: string;
  what: string;
  cpu: number;
  seconds: number;
  /** what a bucket got */
  backend?: { requests: number; bytes: number };
}

export interface ChoiceResults extends Place {
  resources: number;
  rows: Choice[];
}

const UP = ["up", "--yes", "--skip-preview"];
const UNCHECKED = { PULUMI_SKIP_CHECKPOINTS: "true" };

const withStack = async <T>(
  installation: Installation,
  resources: number,
  work: (stack: MeasuredStack) => Promise<T>,
  flags: readonly string[] = [],
): Promise<T> => {
  const stack = await openStack(installation, { form: "native", size: sizeOf(resources), flags });
  try {
    return await work(stack);
  } finally {
    await stack.close();
  }
};

/** Behind a service that takes 50 ms for each request. */
export const parallel = async (installation: Installation, resources: number): Promise<Choice[]> => {
  const faults = join(installation.packages, "slow.yaml");
  writeFileSync(faults, 'rules:\n  - { operation: "*", repeat: true, steps: [{ delay: 50ms }] }\n');
  const choices: Choice[] = [];
  for (const count of [1, 4, 8, 16, 32]) {
    const args = [...UP, "--parallel", String(count)];
    const { cpu, seconds } = await withStack(installation, resources, (stack) => stack.measure(args), [
      "--faults",
      faults,
    ]);
    choices.push({ id: `parallel-${count}`, what: `\`--parallel ${count}\``, cpu, seconds });
  }
  return choices;
};

export const checkpoints = async (installation: Installation, resources: number): Promise<Choice[]> => {
  const choices: Choice[] = [];
  for (const [what, env] of [
    ["with checkpoints", {}],
    ["without", UNCHECKED],
  ] as const) {
    const { cpu, seconds } = await withStack(installation, resources, (stack) => stack.measure(UP, env));
    choices.push({ id: `checkpoints-file-${what}`, what: `file, ${what}`, cpu, seconds });
    choices.push(await inBucket(installation, resources, what, env));
  }
  return choices;
};

const inBucket = async (
  installation: Installation,
  resources: number,
  what: string,
  env: Readonly<Record<string, string>>,
): Promise<Choice> => {
  const bucket = await startBucket();
  try {
    return await withStack(installation, resources, async (stack) => {
      const stackEnv = { ...env, ...bucket.env, PULUMI_BACKEND_URL: bucket.url };
      await stack.measure(["stack", "init", "dev", "--secrets-provider", "passphrase"], stackEnv);
      bucket.take();
      const { cpu, seconds } = await stack.measure(UP, stackEnv);
      return { id: `checkpoints-bucket-${what}`, what: `bucket, ${what}`, cpu, seconds, backend: bucket.take() };
    });
  } finally {
    bucket.close();
  }
};

/** The same resources in one stack and in several. */
export const split = async (installation: Installation, resources: number): Promise<Choice[]> => {
  const choices: Choice[] = [];
  for (const count of [1, 2, 4]) {
    const total = { cpu: 0, seconds: 0 };
    for (let i = 0; i < count; i += 1) {
      const one = await withStack(installation, resources / count, (stack) => stack.measure(UP));
      total.cpu += one.cpu;
      total.seconds += one.seconds;
    }
    choices.push({ id: `split-${count}`, what: count === 1 ? "one stack" : `${count} stacks, in turn`, ...total });
  }
  return choices;
};
