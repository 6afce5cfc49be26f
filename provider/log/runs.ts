// Runs without checkpoints in a journal (PULUMI_SKIP_CHECKPOINTS): the engine saves its state once, at their end. A run is open until a
// later one has found what it did in the state, or has put it in order. Such a journal has its updates and deletes too: of each record
// the last one, by the id of the record.
import { recordId } from "../record/id.ts";
import type { Began, RunLine, Wrote } from "./entry.ts";

/** A run without checkpoints that is not known to have ended well. */
export interface Run extends Began {
  /** when the engine ended it in order, by the clock of its machine */
  ending?: number;
  /** what a later run found: the engine never saved what it did, or that is not certain */
  judged?: "lost" | "unclear";
}

/** What the state must say of a record, before nothing of it is left to settle. */
export interface Write extends Wrote {
  /** its response has arrived, so its request cannot arrive any more */
  isDone?: true;
}

export type Runs = ReturnType<typeof createRuns>;

export const createRuns = () => {
  /** by id */
  const byId = new Map<string, Run>();
  const writes = new Map<string, Write>();
  const change = (id: string, more: Partial<Run>): void => {
    const run = byId.get(id);
    if (run) byId.set(id, { ...run, ...more });
  };
  return {
    byId,
    writes,
    apply: (line: RunLine): void => {
      if ("began" in line) byId.set(line.began, line);
      else if ("ending" in line) change(line.ending, { ending: line.clock });
      else if ("judged" in line) change(line.judged, { judged: line.as });
      else if ("ended" in line) {
        byId.delete(line.ended);
        for (const [id, { run }] of writes) if (run === line.ended) writes.delete(id);
      } else if ("wrote" in line) writes.set(recordId(line.kind, line.wrote), line);
      else if ("settled" in line) writes.delete(recordId(line.kind, line.settled));
      else {
        const id = recordId(line.kind, line.done);
        const write = writes.get(id);
        if (write) writes.set(id, { ...write, isDone: true });
      }
    },
  };
};

export const linesOfRuns = ({ byId, writes }: Runs): RunLine[] => [
  ...[...byId.values()].flatMap(({ ending, judged, ...began }): RunLine[] => [
    began,
    ...(ending === undefined ? [] : [{ ending: began.began, clock: ending }]),
    ...(judged === undefined ? [] : [{ judged: began.began, as: judged }]),
  ]),
  ...[...writes.values()].flatMap(({ isDone, ...wrote }): RunLine[] => [
    wrote,
    ...(isDone ? [{ done: wrote.wrote, kind: wrote.kind }] : []),
  ]),
];
