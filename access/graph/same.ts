// Whether two values of records mean the same to the API.
import type { Json } from "../../schema/index.ts";

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

/** Whether a relationship is the one that was shown. The API sets the end of static keys where the program has none. */
export const isSameRelationship = (shown: Json | null, now: Json | null): boolean => {
  const [keys, held] = [shown?.staticKeys, now?.staticKeys] as (Json | undefined)[];
  if (!keys || !held || keys.expirationTime) return textOf(shown) === textOf(now);
  const { expirationTime: _, ...own } = held;
  return textOf({ ...now, staticKeys: own }) === textOf(shown);
};
