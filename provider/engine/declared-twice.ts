// Warns of two resources of one program that declare the same. What refers to a new record is compared by the
// update. Nothing of what is compared is shown, since a part of it may be secret.
import { getOrInsert, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Kind } from "../record/kind.ts";
import { isUnknown } from "../record/normal-form.ts";
import { KEY, nameInKey } from "../record/state.ts";

/** What identifies the declaration of a record, and what two of them mean. */
interface Mark {
  kind: Kind;
  parts(inputs: Json): unknown[];
  text(name: string, first: string): string;
}

const MARKS: readonly Mark[] = [
  {
    kind: kindRecords.roleBinding,
    parts: ({ identity, role, parent }) => [identity, role, parent],
    text: (name, first) =>
      `RoleBinding ${name} duplicates RoleBinding ${first}: the same role to the same identity in the same group. ` +
      "Remove one of them from the program.",
  },
  {
    kind: kindRecords.identity,
    parts: ({ claimMatch, staticKeys }) => {
      const { issuer, subject } = (claimMatch ?? staticKeys ?? {}) as Json;
      return [issuer, subject];
    },
    text: (name, first) =>
      `Identity ${name} has the same issuer and subject as Identity ${first}: a token exchange that names no identity ` +
      "fails for both. Name the identity in each exchange (IRM_IDENTITY), or keep one of them.",
  },
];

/** Of one provider: another one may be another service. It gets the inputs that the engine has checked. */
export const declaredTwiceWith = (log: (text: string) => void) => {
  /** key of the first resource by what it declares */
  const first = new Map<string, unknown>();
  const reported = new Set<unknown>();
  return (kind: Kind, inputs: Json): void => {
    const own = MARKS.find((mark) => mark.kind === kind);
    const parts = own?.parts(inputs);
    if (!own || !parts?.every(isKnownText)) return;
    const mark = JSON.stringify([kind.type, ...parts]);
    const key = inputs[KEY];
    const other = getOrInsert(first, mark, () => key);
    // A replacement is checked once more.
    if (other === key || reported.has(key)) return;
    reported.add(key);
    log(`warning: ${own.text(nameInKey(key), nameInKey(other))}`);
  };
};

const isKnownText = (part: unknown): boolean => typeof part === "string" && part !== "" && !isUnknown(part);
