// A table of a test as a text: each line is a row, and ` | ` stands between its cells. A line that begins with `|` goes on with the row.
import { parse } from "yaml";

export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split(/\n(?!\s*\|)/)
    .map((row) => row.trim().split(/\s+\|\s+/));

/** The same, with some of the cells as the values that they are in YAML: a `y` in `kinds`. */
export const valuesOf = <Row extends unknown[]>(kinds: string, table: string): Row[] =>
  rowsOf(table).map((cells) => cells.map((cell, i) => (kinds[i] === "y" ? parse(cell) : cell)) as Row);
