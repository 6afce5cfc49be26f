// The access that identities gain and lose by a change, by uid or by the write that makes the record: names decide nothing.
import { canonical, inOrderOf } from "../canonical.ts";
import type { ChangeAfter, ChangeContent, ChangeRow } from "./change.ts";
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

interface RowDiffers {
  row: ChangeRow;
  message: string;
}

/** The rows that only one of the two has. `texts` say so of each side. */
export const rowsApart = (
  recorded: readonly ChangeRow[],
  now: readonly ChangeRow[],
  texts = { now: "the file does not have it", recorded: "only the file has it" },
): RowDiffers[] => {
  const [before, after] = [recorded, now].map((rows) => new Set(rows.map(canonical))) as [Set<string>, Set<string>];
  return [
    ...now.filter((row) => !before.has(canonical(row))).map((row) => ({ row, message: texts.now })),
    ...recorded.filter((row) => !after.has(canonical(row))).map((row) => ({ row, message: texts.recorded })),
  ];
};

/** Identities of which the two do not say the same. Who can act as one may not be visible now: the review says so of each. */
export const afterApart = (recorded: readonly ChangeAfter[], now: readonly ChangeAfter[]) => {
  const keyOf = ({ service = "", identity }: ChangeAfter): string => canonical([service, identity]);
  const [before, after] = [recorded, now].map((all) => new Map(all.map((one) => [keyOf(one), one]))) as [
    Map<string, ChangeAfter>,
    Map<string, ChangeAfter>,
  ];
  const apart = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, own] = [before.get(key), after.get(key)];
    const isSame = old && own && old.access === own.access && [old.signIn, undefined].includes(own.signIn);
    return isSame ? [] : [(own ?? old) as ChangeAfter];
  });
  return apart.map(({ identity }) => ({ identity, message: "after the change it is not as in the file" }));
};

/** Records of which the two do not say the same of what the change replaces. */
export const beforeApart = (
  { writes, before }: Pick<ChangeContent, "writes" | "before">,
  now: ChangeContent["before"],
) => {
  const [old, own] = [before, now].map((all) => new Set(all.map(canonical))) as [Set<string>, Set<string>];
  const apart = [...old].filter((one) => !own.has(one)).concat([...own].filter((one) => !old.has(one)));
  const uids = new Set(apart.map((one) => writes[(JSON.parse(one) as { n: number }).n - 1]?.uid as string));
  return [...uids].map((identity) => ({ identity, message: "what the change replaces is not as in the file" }));
};
