// What is measured of each subject: a form of the package, or what it is compared with. One round of a subject is one stack.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/base/project.mjs";
import type { Installations } from "./install.ts";
import { sizeOf } from "./program.ts";
import { type Form, type Measured, openStack } from "./stack.ts";

/** Figures of one round, such as `dynamic.up` in seconds of processor time. */
export type Figures = Record<string, number>;

interface Bench {
  installations: Installations;
  resources: number;
  log(text: string): void;
}

export type Subject = (bench: Bench) => Promise<Figures>;

const UP = ["up", "--yes", "--skip-preview"];
const UNCHECKED = { PULUMI_SKIP_CHECKPOINTS: "true" };

interface Step {
  name: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

const up: Step = { name: "up", args: UP };
const preview: Step = { name: "preview", args: ["preview", "--expect-no-changes"] };
const refresh: Step = { name: "refresh", args: ["refresh", "--yes", "--skip-preview"] };
const destroy: Step = { name: "destroy", args: ["destroy", "--yes", "--skip-preview"] };
/** Ten identities get another description, with and without a refresh before. */
const change: Step = { name: "change", args: UP, env: { EDITION: "second" } };
const changeRefreshed: Step = { name: "change-refreshed", args: UP, env: { EDITION: "third" } };
/** Ten role bindings get another role. */
const OTHERS = { ROLE: "registry.push" };
const unchecked: Step = { name: "up", args: UP, env: UNCHECKED };
const previewRefreshed: Step = { name: "preview-refreshed", args: ["preview", "--refresh"], env: OTHERS };
const review: Step = { name: "review", args: ["irm", "review", "--stack", "dev", "--format", "json"], env: OTHERS };

interface StackOf {
  of: "ours" | "floor";
  form: Form;
  withSets?: boolean;
  source?: string;
  /** for all steps */
  env?: Readonly<Record<string, string>>;
}

/** The steps one after another on one stack; the figures are named NAME.STEP. */
const steps =
  (name: string, { of, env = {}, ...program }: StackOf, ...all: readonly Step[]): Subject =>
  async ({ installations, resources, log }) => {
    const size = sizeOf(resources);
    const stack = await openStack(installations[of], { ...program, size });
    const figures: Figures = {};
    try {
      for (const step of all) {
        const measured = await stack.measure(step.args, { ...env, ...step.env });
        log(`${name} ${step.name}: ${measuredText(measured)}`);
        Object.assign(figures, figuresOf(`${name}.${step.name}`, measured));
        if (step === up) figures[`${name}.state`] = stack.stateBytes();
      }
    } finally {
      await stack.close();
    }
    return figures;
  };

const figuresOf = (name: string, { cpu, parts, seconds, requests }: Measured): Figures => ({
  [name]: cpu,
  [`${name}.provider`]: parts.provider,
  [`${name}.program`]: parts.program,
  [`${name}.seconds`]: seconds,
  [`${name}.requests`]: requests,
});

const measuredText = ({ cpu, parts, seconds, requests }: Measured): string => {
  const each = Object.entries(parts).map(([part, own]) => `${part} ${own.toFixed(1)}`);
  return `${cpu.toFixed(1)} CPU s (${each.join(", ")}), ${seconds.toFixed(1)} s, ${requests.toFixed(3)} requests a resource`;
};

const plain = readFileSync(join(root, "test", "bench", "plain", "program.ts"), "utf8");

const all = [up, preview, change, refresh, changeRefreshed, destroy];
const floorOf = [up, preview, refresh, destroy];

/** What is measured, in the order in which a round runs it: subjects that are compared are side by side. */
export const subjects = {
  dynamic: steps("dynamic", { of: "ours", form: "dynamic" }, ...all),
  "dynamic-floor": steps("dynamic-floor", { of: "floor", form: "dynamic" }, ...floorOf),
  plain: steps("plain", { of: "ours", form: "dynamic", source: plain }, up),
  native: steps("native", { of: "ours", form: "native" }, ...all),
  "native-floor": steps("native-floor", { of: "floor", form: "native" }, ...floorOf),
  yaml: steps("yaml", { of: "ours", form: "yaml" }, up, preview),
  "yaml-floor": steps("yaml-floor", { of: "floor", form: "yaml" }, up, preview),
  set: steps("set", { of: "ours", form: "native", withSets: true }, up, preview, destroy),
  "set-floor": steps("set-floor", { of: "floor", form: "native", withSets: true }, up, preview, destroy),
  unchecked: steps("unchecked", { of: "ours", form: "native", env: UNCHECKED }, up, destroy),
  "unchecked-floor": steps("unchecked-floor", { of: "floor", form: "native", env: UNCHECKED }, up, destroy),
  "review-dynamic": steps("review-dynamic", { of: "ours", form: "dynamic" }, unchecked, previewRefreshed, review),
  "review-native": steps("review-native", { of: "ours", form: "native" }, unchecked, previewRefreshed, review),
} satisfies Record<string, Subject>;

export type SubjectName = keyof typeof subjects;
