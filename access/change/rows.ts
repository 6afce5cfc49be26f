// The access that identities gain and lose by a change, by uid or by the write that makes the record: names decide nothing.
import { canonical, inOrderOf } from "../canonical.ts";
import type { ChangeRow } from "./change.ts";
import type { Text } from "./text.ts";

interface Held {
  /** uid */
  identity: string;
  /** uid */
  group: string;
  capability: string;
}

/** In one order. */
export const changeRows = (
  { gains, losses }: Record<"gains" | "losses", readonly Held[]>,
  textOf: (uid: string) => Text,
): ChangeRow[] => {
  const rows = [
    ...gains.map((held) => rowOf("gain", held, textOf)),
    ...losses.map((held) => rowOf("loss", held, textOf)),
  ];
  return inOrderOf(rows, canonical);
};

const rowOf = (
  change: ChangeRow["change"],
  { identity, group, capability }: Held,
  textOf: (uid: string) => Text,
): ChangeRow => ({ change, identity: textOf(identity), group: textOf(group), capability });

export interface Differs {
  row: ChangeRow;
  message: string;
}

/** The rows that only one of the two has. `texts` say so of each side. */
export const rowsApart = (
  recorded: readonly ChangeRow[],
  now: readonly ChangeRow[],
  texts = { now: "the file does not have it", recorded: "only the file has it" },
): Differs[] => {
  const [before, after] = [recorded, now].map((rows) => new Set(rows.map(canonical))) as [Set<string>, Set<string>];
  return [
    ...now.filter((row) => !before.has(canonical(row))).map((row) => ({ row, message: texts.now })),
    ...recorded.filter((row) => !after.has(canonical(row))).map((row) => ({ row, message: texts.recorded })),
  ];
};
