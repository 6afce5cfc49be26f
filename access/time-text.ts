// A time, and a span of time, as people and files have them.

/** RFC 3339 in UTC, in whole seconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

const UNITS = [
  [365 * 24 * 60 * 60, "year"],
  [24 * 60 * 60, "day"],
  [60 * 60, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** `2 hours`, in the largest unit that fits; at least `1 second`. */
export const spanText = (ms: number): string => {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  // 59 minutes and 58 seconds are an hour.
  const [size, word] = UNITS.find(([one]) => seconds >= 0.99 * one) ?? [1, "second"];
  const count = Math.round(seconds / size);
  return `${count} ${word}${count === 1 ? "" : "s"}`;
};

/** `2027-03-01T00:00:00Z (in 2 hours)`, `2027-03-01T00:00:00Z (2 hours ago)`; what no calendar has, as a number of seconds. */
export const relativeTimeText = (ms: number, nowMs: number): string => {
  if (Number.isNaN(new Date(ms).getTime())) return String(ms / 1000);
  const span = spanText(Math.abs(ms - nowMs));
  return `${timeText(ms)} (${ms > nowMs ? `in ${span}` : `${span} ago`})`;
};
