/** A report as JSON, the same for the same report. */
export const jsonText = (report: object): string => `${JSON.stringify(report, undefined, 2)}\n`;
