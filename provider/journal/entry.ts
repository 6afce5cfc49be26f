// What the journal holds of a create, line by line (JSON Lines): the intent before the POST, what became of it after. Inputs
// are in it as a hash only; the uid of the parent is needed to look below it.
/** A create that is about to be sent. */
export interface Intent {
  /** of this create, among all of the file */
  intent: string;
  /** organisation/project/stack/type::name of the resource */
  key: string;
  /** `group`, `roleBinding` */
  kind: string;
  /** uid of the parent; "" at the root */
  parent: string;
  /** SHA-256 of the inputs in normal form */
  inputs: string;
  /** paths whose value the server may choose, and that the program gave */
  given: string[];
  /** milliseconds by the service's clock, when it was sent last, or answered: about a second too early at most */
  at: number;
  /** milliseconds by the service's clock: a record that is older is not of this create */
  notBefore: number;
}

/** The lines that follow an intent. */
export type Line =
  | Intent
  | { again: string; at: number }
  | { made: string; uid: string; at: number }
  /** surely not made, or gone again */
  | { closed: string }
  /** the engine knows it: it asked for a record of this uid */
  | { known: string };

export interface Entry extends Intent {
  /** what it made; absent: nobody knows */
  uid?: string;
}

/** The entries that are not settled, by id, in the order of their intents. */
export const entriesFrom = (text: string): Map<string, Entry> => {
  const entries = new Map<string, Entry>();
  for (const line of text.split("\n")) {
    const parsed = parse(line);
    if (parsed) apply(entries, parsed);
  }
  return entries;
};

export const apply = (entries: Map<string, Entry>, line: Line): void => {
  if ("intent" in line) entries.set(line.intent, line);
  else if ("closed" in line) entries.delete(line.closed);
  else if ("known" in line) {
    for (const [id, { uid }] of entries) if (uid === line.known) entries.delete(id);
  } else {
    const entry = entries.get("again" in line ? line.again : line.made);
    if (entry) Object.assign(entry, { at: line.at }, "made" in line && { uid: line.uid });
  }
};

/** The shortest text that says the same. */
export const textFrom = (entries: Iterable<Entry>): string =>
  [...entries]
    .flatMap(({ uid, ...intent }): Line[] => [
      intent,
      ...(uid === undefined ? [] : [{ made: intent.intent, uid, at: intent.at }]),
    ])
    .map(lineText)
    .join("");

export const lineText = (line: Line): string => `${JSON.stringify(line)}\n`;

// A line that was being written when the machine or the process died is whole or none: fsync was not done, nothing was sent.
const parse = (line: string): Line | undefined => {
  try {
    const value = JSON.parse(line) as Line;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};
