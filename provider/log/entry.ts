// The journal's lines (JSON Lines). A line holds everything known about a create, a run or a write, and replaces earlier lines about it. A
// pending entry is on disk before the POST, and its outcome after it. Inputs are stored only as a hash; a search needs the uid of the
// parent. Invalid lines are ignored but kept: people and broken disks also write to files.
import { z } from "zod";
import { isUidp, uidp } from "../../schema/index.ts";

const text = z.string({ error: "must be text" }).min(1, "must not be empty");
const PLACE = "must be a uid, or empty at the root";
// The range of Date.
const time = z
  .number({ error: "must be a number of milliseconds" })
  .min(0, "must be a time")
  .max(8.64e15, "must be a time");

const Entry = z.object({
  /** id of this create, unique in the file */
  intent: text,
  /** organization/project/stack/type::name of the resource */
  key: text,
  /** `group`, `roleBinding` */
  kind: text,
  /** uid of the parent; "" at the root */
  parent: z.string({ error: PLACE }).refine((value) => value === "" || isUidp(value), PLACE),
  /** SHA-256 of the inputs in normal form */
  inputs: text,
  /** paths that the program gave, and for which the server may otherwise choose a value */
  given: z.array(text, { error: "must be a list of texts" }),
  /** when it was last sent or answered: milliseconds by the service's clock, at most about a second early */
  at: time,
  /** milliseconds by the service's clock: an older record belongs to another create */
  notBefore: time,
  /** id of a run without checkpoints: the engine saves its changes at its end */
  run: text.optional(),
  /** the record that it created; absent while it is pending */
  uid: uidp.optional(),
  /** the record in the response, which differs from the request */
  answered: uidp.optional(),
  /** of a create of such a run: the resource has another record, and no resource this one */
  left: z.literal(true).optional(),
});

/** A create, from before its first request. */
export type Entry = z.infer<typeof Entry>;

const Run = z.object({
  /** id of the run, unique in the file */
  began: text,
  /** organization/project/stack */
  stack: text,
  /** just before its first write request: milliseconds by the service's clock */
  at: time,
  /** the same by the clock of its machine, which the engine shares */
  clock: time,
  host: text,
  pid: z.int().nonnegative(),
  /** when the process began, in ticks since boot; empty if the system does not show it */
  start: z.string(),
  /** namespace of the pid; without it the pid counts as that of another machine */
  pids: text.optional(),
  /** the operation that its process shares with others */
  operation: text.optional(),
  /** when the engine ended it normally, to save its state next: by the clock of its machine */
  ending: time.optional(),
  /** the finding of a later run: the engine never saved its changes, or that is uncertain */
  judged: z.enum(["lost", "unclear"]).optional(),
});

/** A run without checkpoints that is not known to have ended well, from before its first write. */
export type Run = z.infer<typeof Run>;

const Write = z.object({
  /** uid of the record */
  wrote: uidp,
  kind: text,
  /** of the resource, as in an intent */
  key: text,
  /** when it was sent: milliseconds by the service's clock */
  at: time,
  /** the same by the clock of its machine */
  clock: time,
  /** the run without checkpoints; absent: a run that repairs the leftovers of such a run */
  run: text.optional(),
  /** the record's content after it, hashed like the inputs of an intent; absent: the record is deleted */
  to: text.optional(),
  given: z.array(text, { error: "must be a list of texts" }).optional(),
  /** its response has arrived, so its request cannot arrive any more */
  isDone: z.literal(true).optional(),
});

/** An update or a delete, from before its request. It is settled once the state shows this content of the record. */
export type Write = z.infer<typeof Write>;

const Removed = z.object({
  /** uid of the resource's record, which a refresh found deleted and its `adopt` names */
  removed: uidp,
  kind: text,
  /** of the resource, as in an intent */
  key: text,
  /** the identifying fields of the record, hashed (provider/record/id.ts): a name may be secret */
  identity: z.record(z.string(), text),
});

/** The record of a resource that adopts it was deleted. The engine drops such a resource from its state. */
export type Removed = z.infer<typeof Removed>;

/** By the first member of a line. */
const LINES = {
  intent: Entry,
  /** failed: certainly not created, or deleted again */
  closed: z.object({ closed: text }),
  /** acknowledged: the engine's state contains a record of this uid, since the engine asked for it or gave its id to the program */
  known: z.object({ known: uidp, kind: text.optional() }),
  removed: Removed,
  began: Run,
  /** nothing of the run is left to settle */
  ended: z.object({ ended: text }),
  wrote: Write,
  /** the state shows the record as it is */
  settled: z.object({ settled: uidp, kind: text }),
};

/** The engine has a record of this uid in its state; `kind` distinguishes records that share a uid. */
export type Known = z.infer<typeof LINES.known>;

export type Line = { [K in keyof typeof LINES]: z.infer<(typeof LINES)[K]> }[keyof typeof LINES];

/** A line that is not an entry: it is kept and shown, but otherwise ignored. */
export interface InvalidLine {
  line: string;
  why: string;
}

// The machine or the process died while it wrote the line. The fsync was not done, so nothing was sent.
export const isTorn = (line: string): boolean =>
  line.startsWith('{"') && !line.endsWith("}") && json(line) === undefined;

/** The line, or why it is invalid. */
export const parse = (line: string): Line | string => {
  const value = json(line);
  if (value === undefined) return "it is not JSON";
  if (typeof value !== "object" || value === null) return "it is not an object";
  const [name] = (Object.keys(LINES) as (keyof typeof LINES)[]).filter((one) => Object.hasOwn(value, one));
  if (name === undefined) return `it has none of ${Object.keys(LINES).join(", ")}`;
  const { error } = LINES[name].safeParse(value);
  // The value as read, with the members of a later version.
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ") ?? (value as Line);
};

const json = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};
