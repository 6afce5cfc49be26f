// A report as JSON, as schema/generated/review.schema.json describes it.
import type { Report } from "../../review/report.ts";

export const reportAsJson = (report: Report): string => `${JSON.stringify(report, undefined, 2)}\n`;
