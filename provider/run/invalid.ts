// The warning of lines in a journal that are not entries.
import { withSection } from "../../client/recovery.ts";
import type { InvalidLine } from "../log/entry.ts";
import { quarantineOf } from "../log/file.ts";

const SHOWN = 10;
const SHOWN_CHARACTERS = 200;

export const invalidText = (path: string, invalid: readonly InvalidLine[]): string => {
  const are = invalid.length === 1 ? "a line that is not an entry" : `${invalid.length} lines that are not entries`;
  const lines = invalid
    .slice(0, SHOWN)
    .map(({ line, why }) => `${JSON.stringify(line.slice(0, SHOWN_CHARACTERS))}: ${why}`);
  const more = invalid.length > SHOWN ? [`and ${invalid.length - SHOWN} more`] : [];
  const head = `the intent journal ${path} has ${are}, ignored and kept in ${quarantineOf(path)} by the next up:`;
  const advice =
    "If one is of a create that a killed run did not finish, its record may have no resource: search for it. npx pulumi-irm journal list " +
    "shows these lines, npx pulumi-irm journal clean --invalid deletes them.";
  return withSection(`${[head, ...lines, ...more].join("\n  - ")}\n${advice}`, "invalid-lines");
};
