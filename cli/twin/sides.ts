// A copy before and after the writes of a change, and whether its own authorization decides access as the review shows it. This asks as each
// identity of the change, on the copy after the run and on a fresh one. A difference is an error of this package.
import { canonical, equalityKey as sameText } from "../../access/canonical.ts";
import type { ChangeContent, ChangeRow } from "../../access/change/change.ts";
import { afterOf, beforeOf, changeRows, rowsApart } from "../../access/change/rows.ts";
import type { CurrentChange } from "../../access/change/terms.ts";
import type { Text } from "../../access/change/text.ts";
import type { Write } from "../../access/change/write.ts";
import type { Copy } from "../../access/copy/copy.ts";
import { accessChange, heldIn } from "../../access/graph/effective-access.ts";
import type { AccessGraph } from "../../access/graph/graph.ts";
import type { Differs } from "../../access/review/report.ts";
import { leastBetween, mostBetween } from "../../access/review/transient.ts";
import { accessOf, rowsBetween } from "./access.ts";
import { readTwin, recordsOf, startTwin, type Twin, type TwinLive } from "./twin.ts";

/** The records of a service before the writes, and after them. */
export type Sides = Awaited<ReturnType<typeof sidesOf>>;

/** Reads the twin after the writes. `decided`: the access of each identity that the writes touch, as the twin decides it. */
export const sidesOf = async (twin: Twin, before: TwinLive) => {
  const after = await readTwin(twin);
  const decided = await accessOf(twin, identitiesOf(before, after));
  return { address: twin.original, copy: twin.copy, before, after, decided };
};

const identitiesOf = ({ graph: before }: TwinLive, { graph: after }: TwinLive): Set<string> => {
  const changed = accessChange(before, after).map(({ identity }) => identity);
  const created = [...after.identities.keys()].filter((uid) => !before.identities.has(uid));
  const bound = [before, after].flatMap(({ bindings }, i) => {
    const others = [after, before][i]?.bindings;
    return [...bindings.values()].flatMap(({ id, identity }) => (others?.has(id) ? [] : [identity]));
  });
  return new Set([...changed, ...created, ...bound]);
};

/** Starts a fresh twin of each copy, one after the other. */
export const disagreements = async (
  services: readonly Sides[],
  encodeText: Parameters<typeof changeRows>[1],
): Promise<Differs[]> => {
  const found: Differs[] = [];
  for (const { address, copy, before, after, decided } of services) {
    const identities = identitiesOf(before, after);
    if (identities.size === 0) continue;
    const old = await accessBefore(copy, address, identities);
    const copyRows = changeRows({ gains: rowsBetween(decided, old), losses: rowsBetween(old, decided) }, encodeText);
    found.push(...rowsApart(rowsOf({ before, after }, encodeText), copyRows, TEXTS));
  }
  return found;
};

const TEXTS = {
  now: "the copy decides so, and the review does not show it: this is an error of pulumi-irm",
  recorded: "the review shows it, and the copy decides otherwise: this is an error of pulumi-irm",
};

const accessBefore = async (copy: Copy, address: string, identities: Iterable<string>) => {
  const twin = await startTwin(copy, address);
  try {
    return await accessOf(twin, identities);
  } finally {
    await twin.close();
  }
};

/** The rows of access of identities, as the file of a change has them. */
export const rowsOf = ({ before, after }: Pick<Sides, "before" | "after">, encodeText: EncodeText): ChangeRow[] =>
  changeRows(
    { gains: heldBy(before.graph, after.graph, "gains"), losses: heldBy(before.graph, after.graph, "losses") },
    encodeText,
  );

const heldBy = (before: AccessGraph, after: AccessGraph, side: "gains" | "losses") =>
  accessChange(before, after).flatMap(({ identity, [side]: rows }) =>
    rows.map(({ group, capability }) => ({ identity, group, capability })),
  );

type EncodeText = (uid: string) => Text;

/** The access in the file of a change, beside its writes. */
export type Access = Pick<ChangeContent, "rows" | "between" | "before" | "after">;

/** Reads the access of a change from the copies. */
export const accessOfChange = (
  services: readonly Sides[],
  { encodeText, ...made }: { writes: readonly Write[]; uids: ReadonlyMap<number, string>; encodeText: EncodeText },
): Access => {
  const rows = services.flatMap((one) => rowsOf(one, encodeText));
  const subjects = services.flatMap(({ address, before, after }, i) => {
    const held = heldIn(after.graph);
    const service = i === 0 ? {} : { service: address };
    return [...subjectsOf(before, after)].map((uid) => ({ ...service, uid, held: held(uid) }));
  });
  const known = new Set(rows.map(canonical));
  const between = services.flatMap((one) => rowsOfRest(one, encodeText)).filter((row) => !known.has(canonical(row)));
  const recordOf = recordsOf(new Map(services.map((one) => [one.address, one])), services[0]?.address ?? "");
  const before = beforeOf(made.writes, { recordOf, encodeText });
  return { rows, between, before, after: afterOf(subjects, { ...made, encodeText }) };
};

/** A change from a run, with the facts for its comparison. */
export const currentChangeOf = (
  content: ChangeContent,
  {
    services,
    normal,
    left,
  }: {
    services: readonly Sides[];
    normal: CurrentChange["normal"];
    left: readonly Readonly<Record<string, unknown>>[];
  },
): CurrentChange => ({
  ...{ content, normal },
  records: new Map(services.map(({ address, copy }) => [address, copy.records])),
  held: new Map(services.map(({ address, after }) => [address, heldIn(after.graph)])),
  owned: new Set(left.map(({ id }) => String(id))),
});

/** A run that ends half-way may have removed access that it gives back later, and given access that it removes later. */
const rowsOfRest = ({ before: { graph: before }, after: { graph: after } }: Sides, encodeText: EncodeText) =>
  changeRows(
    {
      gains: heldBy(leastBetween(before, after), after, "gains"),
      losses: heldBy(mostBetween(before, after), after, "losses"),
    },
    encodeText,
  );

/** The identities, and the records that give people access. */
const subjectsOf = (before: TwinLive, after: TwinLive): Set<string> => {
  const [old, now] = [before.graph, after.graph];
  const reassumed = [...now.identities.values()].filter(
    ({ id, relationship }) => sameText(old.identities.get(id)?.relationship) !== sameText(relationship),
  );
  const [held, holds] = [heldIn(old), heldIn(now)];
  const people = (["providers", "externalGroups", "invites"] as const).flatMap((kind) =>
    [...new Set([...old[kind].keys(), ...now[kind].keys()])].filter(
      (uid) => sameText(held(uid)) !== sameText(holds(uid)),
    ),
  );
  return new Set([...identitiesOf(before, after), ...reassumed.map(({ id }) => id), ...people]);
};
