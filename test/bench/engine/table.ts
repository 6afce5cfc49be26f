// The results as tables of Markdown.
import { parseCount, UsageError } from "../../../cli/irm-command.ts";
import { parseFlags } from "../../support/flags.ts";
import type { Figures } from "./measure.ts";
import { plans, type Row } from "./rows.ts";

export interface Results {
  /** where, when and on which commit it was measured */
  machine: string;
  date: string;
  commit: string;
  resources: number;
  rounds: number;
  rows: Row[];
  /** medians of everything that was measured, by subject and command; CPU seconds where the name says nothing else */
  figures: Figures;
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export const goalsTable = ({ rows }: Results): string =>
  table(["id", "measured", "goal", "spread", "both sides", "against"], rows.map(cellsOf));

const cellsOf = ({ id, value, unit, goal, met, spread: [lowest, highest], sides, against }: Row): string[] => {
  const measured = unit === "x" ? `${value}×` : `${value} ${unit}`;
  return [id, measured, `≤ ${goal}${met ? "" : ", **missed**"}`, `${lowest}–${highest}`, sides, against];
};

const FORMS = ["dynamic", "native", "yaml", "set", "unchecked", "dynamic-floor", "native-floor", "yaml-floor", "plain"];
const COMMANDS = ["up", "preview", "refresh", "change", "change-refreshed", "destroy"];

/** CPU seconds of each command. */
const formsTable = ({ figures }: Results): string => {
  const measured = FORMS.filter((form) => COMMANDS.some((command) => figures[`${form}.${command}`] !== undefined));
  const state = measured.map((form) => numberOr(figures[`${form}.state`], (bytes) => `${Math.round(bytes)}`));
  return table(
    ["", ...measured],
    [
      ...COMMANDS.map((command) => [
        command,
        ...measured.map((form) => numberOr(figures[`${form}.${command}`], (cpu) => cpu.toFixed(1))),
      ]),
      ["bytes of state a resource", ...state],
    ],
  );
};

const numberOr = (value: number | undefined, show: (value: number) => string): string =>
  value === undefined ? "" : show(value);

/** One sentence about where and when. */
export const captionOf = ({ machine, date, commit, resources, rounds }: Results): string =>
  `${resources} resources, ${rounds} ${rounds === 1 ? "round" : "rounds"}, ${date}, commit ${commit}, ${machine}.`;

/** The tables of docs/internals/performance.md, by the id of their marker. */
export const tablesOf = (results: Results): Record<string, string> => ({
  goals: `${goalsTable(results)}\n\n${captionOf(results)}`,
  forms: `${formsTable(results)}\n\n${captionOf(results)}`,
});

/** The page with each table between its markers; one that was not measured stays. */
export const fillTables = (page: string, tables: Readonly<Record<string, string>>): string =>
  page.replace(/(<!-- bench ([a-z]+) -->\n)[\s\S]*?(<!-- end -->)/g, (all, start: string, id: string, end: string) =>
    tables[id] === undefined ? all : `${start}\n${tables[id]}\n\n${end}`,
  );

// Flags of `npm run bench`.

const ids = plans.map(({ id }) => id);

export const usage = `Usage: npm run bench -- [FLAGS]

Compares processor time, requests and bytes of state. Prints a table and writes test/bench/recorded/results.json. A row that misses its goal says
so; only a measurement that fails makes the exit code 1. Run nothing else on the machine meanwhile.

  --only ID,ID  measure these rows only: ${ids.join(", ")}
  --quick       200 resources instead of 1,000, and one round: whether everything can be measured
  --rounds N    rounds (default: 3; the figures are their medians)
  --help        print this help
`;

export type BenchFlags = ReturnType<typeof parseBench>;

export const parseBench = (args: string[]) => {
  const flags = parseFlags(args, {
    only: { type: "string", multiple: true },
    quick: { type: "boolean" },
    rounds: { type: "string" },
    help: { type: "boolean", short: "h" },
  });
  const only = flags.only?.flatMap((text) => text.split(","));
  const unknown = only?.find((id) => !ids.includes(id));
  if (unknown !== undefined)
    throw new UsageError(`--only takes rows of ${ids.join(", ")}, not ${JSON.stringify(unknown)}`);
  const isQuick = flags.quick === true;
  return {
    help: flags.help === true,
    plans: plans.filter(({ id }) => only?.includes(id) ?? true),
    resources: isQuick ? 200 : 1000,
    rounds: flags.rounds === undefined ? (isQuick ? 1 : 3) : parseCount("--rounds", flags.rounds),
  };
};
