// A report of drift as JSON: uids, URNs, and values as a program writes them.
import type { DriftReport } from "../../drift/report.ts";

export const driftAsJson = (report: DriftReport): string => `${JSON.stringify(report, undefined, 2)}\n`;
