// Whether two values of records mean the same to the API.

/** The same text for what the API takes as equal: members in any order, absent or empty. */
export const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(textOf).sort().join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? "");
  const members = Object.entries(value)
    .map(([name, one]) => [name, textOf(one)])
    .filter(([, text]) => !['""', "{}", "[]", "null"].includes(text as string));
  return `{${members
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
    .sort()
    .join()}}`;
};
