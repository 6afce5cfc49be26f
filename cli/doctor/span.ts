// A span of time in words.
const UNITS = [
  [24 * 60 * 60, "day"],
  [60 * 60, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** `2 hours`, in the largest unit that fits; at least `1 second`. */
export const spanText = (ms: number): string => {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const [size, word] = UNITS.find(([one]) => seconds >= one) ?? [1, "second"];
  const count = Math.round(seconds / size);
  return `${count} ${word}${count === 1 ? "" : "s"}`;
};
