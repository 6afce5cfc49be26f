// A report as JSON, as schema/generated/review.schema.json describes it.
import { changesAssumption } from "../../review/danger.ts";
import type { Report } from "../../review/report.ts";

export const reportAsJson = (report: Report): string => {
  const identities = report.identities.map((one) => ({
    ...one,
    assumable: { before: one.assumableBefore, after: one.assumableAfter },
    changed: changesAssumption(one),
  }));
  return `${JSON.stringify({ ...report, identities }, undefined, 2)}\n`;
};
