// What differs from a seal, for a terminal.
import { printable } from "../../schema/index.ts";
import type { Difference } from "../seal/difference.ts";
import { capabilityWords, wrapWords } from "./wrap.ts";

/** One item for each difference; rows that differ in their capability alone share one. */
export const differencesAsText = (differs: readonly Difference[], width: number): string[] => {
  const items = Map.groupBy(differs, ({ what, subject, message, row }) =>
    JSON.stringify([what, subject, row?.around ?? message]),
  );
  return [...items.values()].flatMap((same) => {
    const capabilities = same.flatMap(({ row }) => row?.capability ?? []);
    const [{ message, row }] = same as [Difference];
    if (!row || capabilities.length === 1) return [printable(`- ${message}`)];
    return [
      printable(`- ${row.around.join(`${capabilities.length} capabilities`)}`),
      ...wrapWords(capabilityWords(capabilities), width, "    ", "    "),
    ];
  });
};
