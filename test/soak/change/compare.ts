// What a review shows of a case against what an update has brought, as texts: a record that was there is its uid, a new one its name and place.
import type { Change } from "../../../access/change/change.ts";
import type { Text } from "../../../access/change/text.ts";
import type { Write } from "../../../access/change/write.ts";
import type { Report } from "../../../access/review/report.ts";
import { ancestorsOf } from "../../../schema/index.ts";
import { type Case, isAbout, isOf } from "./group.ts";
import { type Moment, peopleRows, type Row, rowsOf } from "./oracle.ts";

interface Compared {
  case: Case;
  report: Report;
  change: Change;
  /** its organization at each service */
  before: readonly Moment[];
  after: readonly Moment[];
  /** names of the resources of the stack, by uid */
  names: ReadonlyMap<string, string>;
  /** requests of the update that changed something, in any case; undefined: not compared */
  sent?: readonly Sent[] | undefined;
  /** the reviewer sees a part of the organization */
  isInPart: boolean;
}

export interface Sent {
  path: string;
  operation: string;
}

/** How many rows the update has brought, and writes the change has; `problems`: what is wrong with those of the review. */
export const differences = (compared: Compared) => {
  const { case: one, report, change, before, after, names, sent, isInPart } = compared;
  const isOfWrite = ofWrites(change);
  const writes = change.writes.filter((write) => isOfWrite(one, write));
  const isOwn = (uid: string | null, name: string): boolean => (uid === null ? isAbout(one, name) : isOf(one, uid));
  const rows = before.flatMap((old, i) => rowsOf(old, after[i] as Moment));
  const people = before.flatMap((old, i) => peopleRows(old, after[i] as Moment));
  const counts = { rows: rows.length, people: people.length, writes: writes.length };
  const keys = keysIn(before, after);
  const written = keysOfWrites(change);
  const ofChange = change.rows.flatMap((row) =>
    isOfWrite(one, { parent: row.group as Text }) ? [textOfRow(row, written)] : [],
  );
  const ofUpdate = rows.map(
    ({ identity, sign, group, capability }) => `${keys.of(identity)} ${sign} ${keys.of(group)} ${capability}`,
  );
  const isExpected = (text: string): boolean => waits(one, report) && text.startsWith(NOT_SHOWN);
  const inFile = apart("change.json", ofChange, ofUpdate).filter((text) => !isExpected(text));
  if (isInPart) {
    // Who sees a part sees no fewer gains than there are, but for those by a role that changes and is given where they see no binding.
    const isExcused = writes.some(({ method }) => method === "UpdateRole");
    const missing = inFile.filter((text) => text.startsWith(NOT_SHOWN) && text.includes(" + "));
    return { ...counts, problems: isExcused ? [] : missing };
  }
  const at = ({ group, capability, role, sign }: Row, who: string): string =>
    `${who} ${sign} ${keys.pathOf(group)} ${capability} by ${role}`;
  const nameOf = (uid: string): string => (keys.isNew(uid) ? keys.nameOf(uid) : uid);
  const inviteOf = (text: string): string => text.replace(/(?<=^invite )\S+$/, (uid) => names.get(uid) ?? uid);
  const found = [
    ...inFile,
    ...apart(
      "the review",
      report.identities.flatMap(({ uid, name, ...own }) => (isOwn(uid, name) ? shownOf(uid ?? name, own) : [])),
      rows.map((row) => at(row, nameOf(row.identity))),
    ),
    ...apart(
      "the review of people",
      report.people.flatMap(({ uid, subject, ...own }) => (isOwn(uid, subject) ? shownOf(subject, own) : [])),
      people.map((row) => at(row, inviteOf(row.identity))),
    ),
    ...(sent ? methodsApart(writes, sent, one) : []),
  ];
  return { ...counts, problems: found.filter((text) => !isExpected(text)) };
};

/** Whether a step waits for another provider: what it does, and whether it fails, is said to be unknown. */
export const waits = (one: Case, { unknown }: Report): boolean =>
  unknown.some(({ subject, message }) => subject === "" || isAbout(one, message));

/** Gains that the review shows neither there nor above, where a part of an update has run. What may hold in between is a finding. */
export const gainsBeyond = (compared: Pick<Compared, "report" | "change" | "before" | "after">): string[] => {
  const { report, change, before, after } = compared;
  const [keys, written] = [keysIn(before, after), keysOfWrites(change)];
  const shown = new Set(change.rows.map((row) => textOfRow(row, written)));
  const transient = report.findings.filter(({ rule }) => rule === "transient-access");
  const between = new Set(transient.map(({ subject }) => subject));
  return before
    .flatMap((old, i) => rowsOf(old, after[i] as Moment))
    .flatMap(({ identity, sign, group, capability }) => {
      const places = [group, ...ancestorsOf(group)];
      const isShown = places.some((place) => shown.has(`${keys.of(identity)} + ${keys.of(place)} ${capability}`));
      const isBetween = between.has(keys.isNew(identity) ? keys.nameOf(identity) : identity);
      return sign === "-" || isShown || isBetween ? [] : [`${NOT_SHOWN}${identity} + ${group} ${capability}`];
    });
};

const textOfRow = (
  { change, identity, group, capability }: Change["rows"][number],
  written: ReturnType<typeof keysOfWrites>,
): string => `${written(identity as Text)} ${change === "gain" ? "+" : "-"} ${written(group as Text)} ${capability}`;

/** A path may have no uid, so that the request may be about any case: that of a batch. */
const methodsApart = (writes: readonly Write[], sent: readonly Sent[], one: Case): string[] => {
  const isAnywhere = ({ path }: Sent): boolean => !/[0-9a-f]{40}/.test(path);
  const methodsOf = (requests: readonly Sent[]) => requests.map(({ operation }) => singleOf(operation));
  const inside = methodsOf(sent.filter(({ path }) => isAbout(one, path)));
  const anywhere = methodsOf(sent.filter(isAnywhere));
  const shown = new Set(writes.map(({ method }) => method));
  const sure = [...shown].filter((method) => inside.includes(method) || !anywhere.includes(method));
  return apart("methods", sure, [...new Set(inside)]);
};

/** `BatchCreateRoleBindings` is several `CreateRoleBinding`. */
const singleOf = (method: string): string => method.replace(/^Batch(.*)s$/, "$1");

type Shown = Pick<Report["identities"][number], "gains" | "losses">;

const shownOf = (who: string, { gains, losses }: Shown): string[] =>
  [gains, losses].flatMap((own, i) =>
    own.map(({ groupName, capability, role }) => `${who} ${"+-"[i]} ${groupName} ${capability} by ${role}`),
  );

const NOT_SHOWN = "not shown: ";

/** Texts that only one side has, as often as it has them more. */
const apart = (what: string, shown: readonly string[], real: readonly string[]): string[] => {
  const without = (one: readonly string[], other: readonly string[]): string[] => {
    const left = [...other];
    return one.filter((text) => {
      const i = left.indexOf(text);
      if (i >= 0) left.splice(i, 1);
      return i < 0;
    });
  };
  return [
    ...without(shown, real).map((text) => `shown, and not so: ${what}: ${text}`),
    ...without(real, shown).map((text) => `${NOT_SHOWN}${what}: ${text}`),
  ];
};

/** Records in words. */
export const keysIn = (before: readonly Moment[], after: readonly Moment[]) => {
  const [old, now] = [before, after].map((all) => new Map(all.flatMap(({ named }) => [...named])));
  const find = (uid: string) => now?.get(uid) ?? old?.get(uid);
  const isNew = (uid: string): boolean => !old?.has(uid);
  const of = (uid: string): string => {
    const { name, parent } = find(uid) ?? {};
    return isNew(uid) ? `${parent ? of(parent) : ""}+${name}` : uid;
  };
  const nameOf = (uid: string): string => find(uid)?.name ?? uid;
  const pathOf = (group: string): string => {
    const parent = find(group)?.parent;
    if (!parent) return "/";
    return [pathOf(parent), nameOf(group)].filter((part) => part !== "/").join("/");
  };
  return { of, isNew, nameOf, pathOf };
};

/** Whether a write is about a record of a case. */
export const ofWrites = ({ writes }: Change) => {
  const isOfWrite = (one: Case, { uid, parent }: Pick<Write, "uid" | "parent">): boolean => {
    const at = uid ?? parent;
    if (typeof at === "string") return isOf(one, at);
    const write = at !== undefined && "$uid" in at ? writes[at.$uid - 1] : undefined;
    return write !== undefined && isOfWrite(one, write);
  };
  return isOfWrite;
};

const keysOfWrites = ({ writes }: Change) => {
  const of = (text: Text | undefined): string => {
    if (typeof text !== "object") return text ?? "";
    const write = writes[("$uid" in text ? text.$uid : 0) - 1];
    return write ? `${of(write.parent)}+${write.fields.name}` : JSON.stringify(text);
  };
  return of;
};
