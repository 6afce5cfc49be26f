// Whether a record that is said to be of a create is: what a response or the intent journal names is followed, and deleted later,
// only when the record itself agrees. Its parent, its fields and its age must be those of the create.
import { isUidp, type Json } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import type { Kind } from "../kind/kind.ts";
import { createTimeOf, placeOf } from "../kind/record.ts";
import { fingerprint } from "../state/fingerprint.ts";

/** `Date` has whole seconds, and the machines of a service do not agree to the millisecond. */
export const SKEW_MS = 1_000;

// Clocks of one service that differ by more are not to be reckoned with.
const CLOCKS_MS = 30_000;

export type Verdict =
  | { is: "its own" }
  /** surely not */
  | { is: "another"; why: string }
  /** `age`: what was asked for, and perhaps older than the create; `fields`: made with it, and not what was asked for */
  | { is: "open"; by: "age" | "fields"; why: string };

export const verdictOn = (kind: Kind, { parent, inputs, given, notBefore }: Entry, record: Json): Verdict => {
  const { uid } = record;
  if (!isUidp(uid) || placeOf(kind, uid) !== parent) return { is: "another", why: `is not in ${parent || "no group"}` };
  const olderMs = notBefore - Date.parse(String(createTimeOf(record)));
  const isSame = fingerprint(kind, parent, record, given) === inputs;
  if (olderMs > CLOCKS_MS || (olderMs > SKEW_MS && !isSame)) return { is: "another", why: "existed before the create" };
  if (!isSame) return { is: "open", by: "fields", why: "is not what was asked for" };
  if (olderMs <= SKEW_MS) return { is: "its own" };
  return { is: "open", by: "age", why: "may have existed before the create" };
};
