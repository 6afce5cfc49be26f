// The results as tables of Markdown.
import type { ChoiceResults } from "./choice.ts";
import type { Figures } from "./measure.ts";
import type { Place } from "./place.ts";
import type { Row } from "./rows.ts";

export interface Results extends Place {
  resources: number;
  rounds: number;
  rows: Row[];
  /** medians of everything that was measured, by subject and command; CPU seconds where the name says nothing else */
  figures: Figures;
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export const goalsTable = ({ rows }: Results): string =>
  table(["id", "measured", "goal", "met", "spread", "both sides", "against"], rows.map(cellsOf));

/** The same, narrow. */
export const summaryTable = ({ rows }: Results): string =>
  table(
    ["id", "measured", "goal", "met"],
    rows.map((row) => cellsOf(row).slice(0, 4)),
  );

const cellsOf = ({ id, value, unit, goal, met, spread: [lowest, highest], sides, against }: Row): string[] => {
  const measured = unit === "x" ? `${value}×` : `${value} ${unit}`;
  return [id, measured, `≤ ${goal}`, met ? "yes" : "**no**", `${lowest} to ${highest}`, sides, against];
};

const FORMS = ["dynamic", "native", "yaml", "set", "unchecked", "dynamic-floor", "native-floor", "yaml-floor", "plain"];
const COMMANDS = ["up", "preview", "refresh", "change", "change-refreshed", "destroy"];

/** CPU seconds of each command. */
export const formsTable = ({ figures }: Results): string => {
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

const numberOr = (value: number | undefined, textOf: (value: number) => string): string =>
  value === undefined ? "" : textOf(value);

export const choicesTable = ({ rows }: ChoiceResults, prefix: string): string =>
  table(
    ["", "CPU s", "seconds", "requests of the backend", "MB to the backend"],
    rows
      .filter(({ id }) => id.startsWith(prefix))
      .map(({ what, cpu, seconds, backend }) => [
        what,
        cpu.toFixed(1),
        seconds.toFixed(1),
        backend ? String(backend.requests) : "",
        backend ? (backend.bytes / 1e6).toFixed(1) : "",
      ]),
  );

/** One sentence about where and when. */
export const captionOf = (own: Place & { resources: number; rounds?: number }): string => {
  const { machine, date, commit, resources, rounds } = own;
  const times = rounds === undefined ? "" : `${rounds} ${rounds === 1 ? "round" : "rounds"}, `;
  return `${resources} resources, ${times}${date}, commit ${commit}, ${machine}.`;
};
