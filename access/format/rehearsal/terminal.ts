// A rehearsal for a terminal.
import { printable } from "../../../schema/index.ts";
import type { Rehearsal } from "../../rehearsal/report.ts";
import type { Origin } from "../../review/report.ts";
import { originFacts } from "../review/blocks.ts";
import { sectionLines, styleOf, type TerminalOptions, wrapText } from "../review/terminal.ts";
import { FOOT, factsOf, rehearsalLimits, rehearsalSections, titleOf } from "./sections.ts";

export const rehearsalAsText = (rehearsal: Rehearsal, origin: Origin, { color, width }: TerminalOptions): string => {
  const style = styleOf(color);
  const facts = [...originFacts(origin), ...factsOf(rehearsal)];
  return [
    ...wrapText(titleOf(rehearsal), "", width).map((line) => style("bold", line)),
    ...facts.map(({ name, value }) => style("dim", printable(`${name}: ${value}`))),
    "",
    ...[...rehearsalLimits(rehearsal), ...rehearsalSections(rehearsal)].flatMap((one) =>
      sectionLines(one, width, style),
    ),
    ...wrapText(FOOT, "", width).map((line) => style("dim", line)),
    "",
  ].join("\n");
};
