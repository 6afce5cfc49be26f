// Texts about an open stack.
import { openStackText } from "../../client/preview-marks.ts";
import { bulleted } from "../../schema/index.ts";
import type { Run, Write } from "../log/entry.ts";
import { createTimeOf } from "../record/id.ts";
import { recordText, withArticle } from "../record/kind.ts";
import { placeInKey } from "../record/state.ts";
import type { Leftover } from "./leftover.ts";
import type { OpenStack } from "./stack.ts";

const SHOWN = 20;

/** The changes that the state lacks: `2 creates, 1 update`. */
export const countsText = (creates: number, writes: Iterable<Write>): string => {
  const all = [...writes];
  const deletes = all.filter(({ to }) => to === undefined).length;
  return [
    ...countOf(creates, "create"),
    ...countOf(all.length - deletes, "update"),
    ...countOf(deletes, "delete"),
  ].join(", ");
};

/** `that began at 2026-01-28T12:54:21.189Z, process 4711 on build-7, did not end` */
export const runText = ({ at, host, pid, ending }: Run, isUnderWay = false): string => {
  const end = isUnderWay ? "is under way" : ending === undefined ? "did not end" : "has ended";
  return `that began at ${new Date(at).toISOString()}, process ${pid} on ${host}, ${end}`;
};

export const describeOpenStack = ({ name, runs, leftovers, touched, problem }: OpenStack): string => {
  const begun = runs.map(({ run, isUnderWay }) => runText(run, isUnderWay));
  const lines = leftovers.map(lineOf);
  const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more: npx pulumi-irm recover list --all`] : [];
  return [
    bulleted(
      openStackText(
        name,
        `a run without checkpoints ${begun.join("; another one ") || "did not end"}, and the engine's state lacks ${countsText(leftovers.length, touched.values())}. ` +
          "Each resource is compared with its live record.",
      ),
      ...lines.slice(0, SHOWN),
      ...more,
    ),
    ...(leftovers.length > 0 ? [TAKEN] : []),
    ...(problem === undefined
      ? []
      : [`The engine's state cannot be read (${problem}), so nothing of this is certain.`]),
  ].join("\n");
};

export const uncomparableText = (name: string): string =>
  openStackText(
    name,
    "a run without checkpoints may not have ended. Its records have to be compared with the live ones, which needs credentials",
  );

const TAKEN =
  "Of these records, the program adopts those that it declares as they are. The others belong to no resource: the end of an up " +
  "in TypeScript deletes them, so does pulumi destroy, and npx pulumi-irm recover lists and deletes them.";

const countOf = (count: number, word: string) => (count === 0 ? [] : [`${count} ${count === 1 ? word : `${word}s`}`]);

/** `Group::team: group 7209… "team", created 2026-01-28T12:54:21.189Z` */
export const lineOf = ({ entry, kind, record, doubt }: Leftover): string => {
  const known = record && kind ? recordText(kind, record) : undefined;
  const created = record ? `, created ${createTimeOf(record)}` : "";
  const what =
    known ??
    (entry.uid === undefined ? withArticle(kind?.word ?? entry.kind) : `${kind?.word ?? entry.kind} ${entry.uid}`);
  return `${placeInKey(entry.key)}: ${what}${created}${doubt === undefined ? "" : ` (${doubt})`}`;
};
