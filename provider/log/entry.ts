// The journal's lines for a create (JSON Lines): a pending entry before the POST, its outcome after it. Inputs are stored only as a
// hash; a search needs the uid of the parent. Invalid lines are ignored and kept: people and broken disks write to files too.
// The words on disk are those of version 0.1: `made` is succeeded, `closed` failed, `again` resent, `known` acknowledged.
import { z } from "zod";
import { isUidp, uidp } from "../../schema/index.ts";

const text = z.string({ error: "must be text" }).min(1, "must not be empty");
const PLACE = "must be a uid, or empty at the root";
// The range of Date.
const time = z
  .number({ error: "must be a number of milliseconds" })
  .min(0, "must be a time")
  .max(8.64e15, "must be a time");

const Intent = z.object({
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
  /** milliseconds by the service's clock: an older record is not of this create */
  notBefore: time,
});

/** A create that is about to be sent. */
export type Intent = z.infer<typeof Intent>;

/** The lines that follow an intent, by their first member. */
const LINES = {
  intent: Intent,
  again: z.object({ again: text, at: time }),
  made: z.object({ made: text, uid: uidp, at: time }),
  /** the response named a record that differs from the request */
  answered: z.object({ answered: text, uid: uidp }),
  /** failed: certainly not created, or deleted again */
  closed: z.object({ closed: text }),
  /** acknowledged: the engine has a record of this uid in its state, since it asked for it or has told the program its id */
  known: z.object({ known: uidp, kind: text.optional() }),
};

/** The engine has a record of this uid in its state; `kind` distinguishes records that share a uid. */
export type Known = z.infer<typeof LINES.known>;

export type Line = { [K in keyof typeof LINES]: z.infer<(typeof LINES)[K]> }[keyof typeof LINES];

export interface Entry extends Intent {
  /** the record that it created; absent while it is pending */
  uid?: string;
  /** the record in the response, which differs from the request */
  answered?: string;
}

/** A line that is not an entry: it is kept and shown, and otherwise ignored. */
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
  // As it was read, with the members of a later version.
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ") ?? (value as Line);
};

const json = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};
