// A text of several parts: one for machines and for a line, and the same as a sentence with a list.
import type { FindingList } from "./report.ts";

/** `lead: one; other`; of one part, a sentence without a list. */
export const textOfList = (lead: string, items: readonly string[]): { message: string; list?: FindingList } => {
  const message = `${lead}${items.length > 0 && lead !== "" ? " " : ""}${items.join("; ")}`;
  return items.length > 1 ? { message, list: { lead, items: [...items] } } : { message };
};
