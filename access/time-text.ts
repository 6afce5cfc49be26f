// A time as people and files have it.

/** RFC 3339 in UTC, in whole seconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
