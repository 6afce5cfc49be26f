// One difference between a seal and the change as it would be now.

/** One thing that the seal has and the change has not, or the other way round. */
export interface Difference {
  what: "row" | "assumable" | "step" | "delete" | "owner" | "service" | "digest" | "expired";
  /** uid or name of the identity, or URN of the resource */
  subject: string;
  /** in one sentence */
  message: string;
  /** of a row: its capability, and the words around it in the message */
  row?: { capability: string; around: readonly [string, string] };
}

export const setDifferences = (
  sealed: readonly string[],
  now: readonly string[],
): { one: string; isNew: boolean }[] => {
  const [olds, news] = [new Set(sealed), new Set(now)];
  return [
    ...now.filter((one) => !olds.has(one)).map((one) => ({ one, isNew: true })),
    ...sealed.filter((one) => !news.has(one)).map((one) => ({ one, isNew: false })),
  ];
};
