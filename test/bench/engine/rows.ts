// The rows of the table: what is compared with what, and the goal.
import type { Figures, SubjectName } from "./measure.ts";

export type Row = NonNullable<ReturnType<typeof rowOf>>;

export interface RowPlan {
  id: string;
  unit: string;
  against: string;
  goal: number;
  needs: readonly SubjectName[];
  /** of one round */
  value(figures: Figures): number;
  /** medians of both sides, such as `80.1 and 61.3 CPU s` */
  sides(figures: (name: string) => number): string;
}

const seconds =
  (own: string, other: string): RowPlan["sides"] =>
  (of) =>
    `${of(own).toFixed(1)} and ${of(other).toFixed(1)} CPU s`;

/** Processor time of one command against another. */
const ratio = (id: string, goal: number, own: string, other: string, against: string): RowPlan => ({
  id,
  unit: "x",
  against,
  goal,
  needs: [...new Set([subjectOf(own), subjectOf(other)])],
  value: (figures) => figure(figures, own) / figure(figures, other),
  sides: seconds(own, other),
});

const subjectOf = (name: string) => name.split(".")[0] as SubjectName;

const figure = (figures: Figures, name: string): number => figures[name] ?? Number.NaN;

const requests = (id: string, goal: number, command: string): RowPlan => ({
  id,
  unit: "a resource",
  against: "the API",
  goal,
  needs: [subjectOf(command)],
  value: (figures) => figure(figures, `${command}.requests`),
  sides: (of) => `${of(command).toFixed(1)} CPU s`,
});

const state = (id: string, form: "dynamic" | "native"): RowPlan => ({
  id,
  unit: "x",
  against: "the floor",
  goal: 1.1,
  needs: [form, `${form}-floor`],
  value: (figures) => figure(figures, `${form}.state`) / figure(figures, `${form}-floor.state`),
  sides: (of) => `${Math.round(of(`${form}.state`))} and ${Math.round(of(`${form}-floor.state`))} bytes a resource`,
});

const FLOOR = "the floor";
const PREVIEW = "`pulumi preview --refresh` of the same change of ten bindings";

export const plans: readonly RowPlan[] = [
  ratio("up-plain", 0.33, "dynamic.up", "plain.up", "Pulumi's documented way"),
  ratio("up-floor", 1.25, "dynamic.up", "dynamic-floor.up", FLOOR),
  ratio("up-native-floor", 1.25, "native.up", "native-floor.up", FLOOR),
  ratio("up-native-yaml", 1.25, "yaml.up", "yaml-floor.up", FLOOR),
  ratio("up-set", 1.3, "set.up", "set-floor.up", FLOOR),
  ratio("destroy-set", 1.3, "set.destroy", "set-floor.destroy", FLOOR),
  ratio("preview", 1.25, "dynamic.preview", "dynamic-floor.preview", FLOOR),
  ratio("preview-native", 1.25, "native.preview", "native-floor.preview", FLOOR),
  ratio("preview-native-yaml", 1.25, "yaml.preview", "yaml-floor.preview", FLOOR),
  ratio("refresh", 1.25, "dynamic.refresh", "dynamic-floor.refresh", FLOOR),
  ratio("refresh-native", 1.25, "native.refresh", "native-floor.refresh", FLOOR),
  ratio("destroy", 1.25, "dynamic.destroy", "dynamic-floor.destroy", FLOOR),
  ratio("destroy-native", 1.25, "native.destroy", "native-floor.destroy", FLOOR),
  ratio("after-refresh", 1.15, "dynamic.change-refreshed", "dynamic.change", "without a refresh"),
  ratio("after-refresh-native", 1.15, "native.change-refreshed", "native.change", "without a refresh"),
  ratio("up-unchecked", 1.3, "unchecked.up", "unchecked-floor.up", `${FLOOR}, without checkpoints`),
  ratio("skip-up", 0.35, "unchecked.up", "native.up", "the same with checkpoints"),
  ratio("skip-destroy", 0.2, "unchecked.destroy", "native.destroy", "the same with checkpoints"),
  ratio("destroy-unchecked", 1.3, "unchecked.destroy", "unchecked-floor.destroy", `${FLOOR}, without checkpoints`),
  ratio("review", 2.5, "review-dynamic.review", "review-dynamic.preview-refreshed", PREVIEW),
  ratio("review-native", 2.5, "review-native.review", "review-native.preview-refreshed", PREVIEW),
  requests("requests-create", 0.7, "dynamic.up"),
  requests("requests-refresh", 0.03, "dynamic.refresh"),
  requests("requests-destroy", 1.05, "dynamic.destroy"),
  requests("requests-create-native", 0.7, "native.up"),
  requests("requests-refresh-native", 0.03, "native.refresh"),
  requests("requests-destroy-native", 1.05, "native.destroy"),
  state("state", "dynamic"),
  state("state-native", "native"),
];

/** Undefined where a measurement that it needs has failed. */
export const rowOf = (plan: RowPlan, rounds: readonly Figures[]) => {
  const values = rounds.map((figures) => plan.value(figures)).filter((value) => !Number.isNaN(value));
  if (values.length === 0) return undefined;
  const value = median(values);
  const of = (name: string): number => median(rounds.flatMap((figures) => figures[name] ?? []));
  const { id, unit, against, goal } = plan;
  return {
    id,
    /** median of the rounds */
    value: round(value),
    unit,
    against,
    goal,
    comparison: "<=" as const,
    met: value <= goal,
    spread: [Math.min(...values), Math.max(...values)].map(round) as [lowest: number, highest: number],
    sides: plan.sides(of),
  };
};

/** The median of each figure. */
export const mediansOf = (rounds: readonly Figures[]): Figures => {
  const names = [...new Set(rounds.flatMap((figures) => Object.keys(figures)))];
  return Object.fromEntries(
    names.map((name) => [name, round(median(rounds.flatMap((figures) => figures[name] ?? [])))]),
  );
};

const round = (value: number): number => Math.round(value * 1000) / 1000;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
