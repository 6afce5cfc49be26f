// `irm rehearse FILE`: the writes of a change on fresh copies of its services, and whether the access that they give is the recorded one.
import { type Change, ChangeError, type ChangeRow, unusableText } from "../../access/change/change.ts";
import { type Differs, rowsApart } from "../../access/change/rows.ts";
import { resolveValue } from "../../access/change/value.ts";
import type { Copy } from "../../access/copy/copy.ts";
import type { Document, Item, Part } from "../../access/format/document/document.ts";
import { countText } from "../../access/format/words.ts";
import { newGraph } from "../../access/graph/graph.ts";
import { addGroup } from "../../access/graph/live-record.ts";
import { worstFirst } from "../../access/review/danger.ts";
import type { Client } from "../../client/client.ts";
import { copyOf } from "../copy.ts";
import { untilInterrupted } from "../interrupt.ts";
import { type Replay, replay } from "../twin/replay.ts";
import { recordsIn } from "../twin/twin.ts";
import { actorsOf } from "./actor.ts";

export interface Replayed {
  stack: string;
  services: string[];
  /** uid of the identity that applies the change */
  as: string;
  commit?: string;
  digest: string;
  /** how many */
  writes: number;
  failed: { n: number; method: string; message: string }[];
  /** what the writes give now */
  rows: ChangeRow[];
  /** rows that only the file has, or only this copy */
  differs: Differs[];
}

/** Throws a ChangeError, and the errors of a copy and of the clients. */
export const replayHere = async (
  change: Change,
  file: string,
  clients: ReadonlyMap<string, Client>,
): Promise<{ report: Replayed; document: Document }> => {
  const [client] = clients.values() as Iterable<Client> as [Client];
  const problem = unusableText(change, { file, given: [...clients.keys()], nowMs: await client.serviceNow() });
  if (problem !== undefined) throw new ChangeError(problem);
  const originals = [];
  const before = newGraph();
  for (const [address, one] of clients) {
    const copy = await copyOf(one, address);
    originals.push({ address, client: one, copy });
    for (const { uid, name } of copy.records.groups ?? []) addGroup(before, uid, String(name));
  }
  const acting = await actorsOf(originals, { as: change.as, source: `${file}: as`, rights: "operator", before });
  const copies = new Map(acting.map(({ address, copy }) => [address, copy]));
  const actors = new Map(acting.map(({ address, actor }) => [address, actor.uid]));
  const reason = new ChangeError("it was interrupted; nothing was changed");
  const made = await untilInterrupted(
    reason,
    (signal) => replay({ change, copies, actors }, signal),
    "ending the copy",
  );
  const { stack, services, as, commit, digest, writes } = change;
  const failed = made.outcomes.flatMap(({ n, ok, message = "" }) =>
    ok ? [] : [{ n, method: writes[n - 1]?.method ?? "", message }],
  );
  const report: Replayed = {
    ...{ stack, services, as, ...(commit !== undefined && { commit }), digest, writes: writes.length },
    ...{ failed, rows: made.rows, differs: rowsApart(change.rows, made.rows) },
  };
  return { report, document: documentOf(report, change, namesIn(change, copies, made)) };
};

export const isAsRecorded = ({ failed, differs }: Replayed): boolean => failed.length + differs.length === 0;

/** Names for people, by uid; of a new record by that of the write. */
const namesIn = ({ writes }: Change, copies: ReadonlyMap<string, Copy>, { uids }: Replay) => {
  const names = new Map<string, string>();
  for (const copy of copies.values())
    for (const [, { uid, name }] of recordsIn(copy)) if (typeof name === "string") names.set(uid, name);
  const uidOf = (n: number): string => uids.get(n) ?? `write ${n}`;
  for (const { n, fields } of writes) {
    const name = resolveValue(fields.name, { uidOf, hidden: "a secret name" });
    if (typeof name === "string" && uids.has(n)) names.set(uidOf(n), name);
  }
  return (value: unknown): string => {
    const uid = String(resolveValue(value, { uidOf, hidden: "secret" }));
    return names.get(uid) ?? uid;
  };
};

const documentOf = (report: Replayed, { created }: Change, nameOf: (value: unknown) => string): Document => {
  const { stack, services, as, commit, digest, writes, failed, rows, differs } = report;
  const count = countText(writes, "write");
  const title = failed.length === 0 ? `${count}, carried out on a copy` : `${failed.length} of ${count} fail on a copy`;
  const quote = (quoted: string): Part => ({ quoted });
  const rowParts = ({ change, identity, group, capability }: ChangeRow): Part[] => [
    ...[quote(nameOf(identity)), change === "gain" ? " gains " : " loses ", quote(capability)],
    ...[" at ", quote(nameOf(group)), " and below"],
  ];
  const itemsOf = (change: ChangeRow["change"]): Item[] =>
    worstFirst(
      rows.filter((row) => row.change === change),
      ({ capability, group, identity }) => ({
        capabilities: [capability],
        place: typeof group === "string" ? group : undefined,
        texts: [nameOf(identity), capability],
      }),
    ).map((row) => ({ parts: rowParts(row), lines: [] }));
  return {
    title: ["Change of ", quote(stack), `: ${title}`],
    origin: { stack, service: services.join(", "), ...(commit !== undefined && { commit }), time: created },
    sections: [
      {
        title: "Differs from the file",
        items: differs.map(({ row, message }) => ({ parts: [...rowParts(row), `: ${message}`], lines: [] })),
      },
      {
        title: "Writes that fail",
        items: failed.map(({ n, method, message }) => ({ parts: [`${n} ${method}: `, quote(message)], lines: [] })),
      },
      { title: "Who gains access", items: itemsOf("gain") },
      { title: "Who loses access", items: itemsOf("loss") },
      {
        title: "The change",
        items: [
          { parts: ["as ", quote(nameOf(as)), " ", quote(as)], lines: [] },
          { parts: ["digest ", quote(digest)], lines: [] },
        ],
      },
    ],
    foot: "People have no sign-in on a copy, so their access is not among these rows.",
  };
};
