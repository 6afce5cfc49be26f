// A rehearsal as JSON.
import type { Rehearsal } from "../../rehearsal/report.ts";
import type { Origin } from "../../review/report.ts";

export const rehearsalAsJson = (report: Rehearsal & { origin?: Origin }): string =>
  `${JSON.stringify(report, undefined, 2)}\n`;
