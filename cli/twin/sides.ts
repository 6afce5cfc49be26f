// A copy before and after the writes of a change, and whether its own authorization decides access as the review shows it. Each identity of
// the change is asked, on the copy after the run and on a fresh one. A difference is an error of this package.
import { changeRows, rowsApart } from "../../access/change/rows.ts";
import type { Copy } from "../../access/copy/copy.ts";
import { accessChange } from "../../access/review/change.ts";
import type { Differs } from "../../access/review/run-report.ts";
import { accessOf, rowsBetween, type TwinAccess } from "./access.ts";
import { readTwin, type TwinLive } from "./live.ts";
import { startTwin, type Twin } from "./twin.ts";

/** What a service has before the writes, and after them. */
export interface Sides {
  address: string;
  copy: Copy;
  before: TwinLive;
  after: TwinLive;
  /** what the identities of the change may do after it, as the copy decides */
  decided: TwinAccess;
}

/** Reads the twin after the writes, and asks it as each identity whose access they touch. */
export const sidesOf = async (twin: Twin, before: TwinLive): Promise<Sides> => {
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
  textOf: Parameters<typeof changeRows>[1],
): Promise<Differs[]> => {
  const found: Differs[] = [];
  for (const { address, copy, before, after, decided } of services) {
    const identities = identitiesOf(before, after);
    if (identities.size === 0) continue;
    const old = await accessBefore(copy, address, identities);
    const copyRows = changeRows({ gains: rowsBetween(decided, old), losses: rowsBetween(old, decided) }, textOf);
    found.push(...rowsApart(rowsOf({ before, after }, textOf), copyRows, TEXTS));
  }
  return found;
};

const TEXTS = {
  now: "the copy decides so, and the review does not show it: this is an error of pulumi-irm",
  recorded: "the review shows it, and the copy decides otherwise: this is an error of pulumi-irm",
};

const accessBefore = async (copy: Copy, address: string, identities: Iterable<string>): Promise<TwinAccess> => {
  const twin = await startTwin(copy, address);
  try {
    return await accessOf(twin, identities);
  } finally {
    await twin.close();
  }
};

/** The rows of access of identities, as the file of a change has them. */
export const rowsOf = (
  { before, after }: Pick<Sides, "before" | "after">,
  textOf: Parameters<typeof changeRows>[1],
): ReturnType<typeof changeRows> => {
  const change = accessChange(before.graph, after.graph);
  const held = (side: "gains" | "losses") =>
    change.flatMap(({ identity, [side]: rows }) =>
      rows.map(({ group, capability }) => ({ identity, group, capability })),
    );
  return changeRows({ gains: held("gains"), losses: held("losses") }, textOf);
};
