// What differs in access: rows, who can assume an identity, and what somebody may hold while the update runs.
import type { Json } from "../../schema/index.ts";
import { compare } from "../graph/compare.ts";
import { isSameRelationship, textOf } from "../graph/same.ts";
import type { Change } from "./change.ts";
import { type Difference, setDifferences } from "./difference.ts";
import { notShown, rowsBetween } from "./rows.ts";
import type { SealContent, SubjectRow } from "./seal.ts";

interface Compared {
  seal: SealContent;
  now: SealContent;
  sealed: Change;
  change: Change;
}

export const accessDifferences = (compared: Compared): Difference[] => {
  const { seal, now, sealed, change } = compared;
  const rows = rowDifferences(seal.rows, now.rows);
  return [
    ...rows,
    ...assumableDifferences(compared, rows),
    ...heldDifferences(sealed, change),
    ...transientDifferences(sealed, change),
  ];
};

const rowDifference = (subject: string, around: readonly [string, string], capability: string): Difference => ({
  ...{ what: "row", subject, message: around.join(capability) },
  row: { capability, around },
});

/** What is new has no uid yet. */
const subjectOf = ({ uid, name, groupName }: SubjectRow): string => uid ?? `${name} in ${groupName}`;

const rowDifferences = (sealed: readonly SubjectRow[], now: readonly SubjectRow[]): Difference[] => {
  const [olds, news] = [bySubject(sealed), bySubject(now)];
  return [...new Set([...olds.keys(), ...news.keys()])].sort(compare).flatMap((subject) => {
    const [old, next] = [olds.get(subject), news.get(subject)];
    const [was, is] = [textsOf(old), textsOf(next)];
    const name = (next ?? old)?.name ?? subject;
    const rows = setDifferences([...was.keys()], [...is.keys()]).map(({ one, isNew }) => {
      const { verb, capability, place } = (is.get(one) ?? was.get(one)) as RowText;
      const end = isNew ? `${place}: this is not in the seal` : place;
      return rowDifference(subject, [`${name} ${isNew ? "" : "no longer "}${verb} `, ` ${end}`], capability);
    });
    const isSameAfter = old?.assumedAfter === next?.assumedAfter;
    if (isSameAfter && old?.assumedBefore === next?.assumedBefore) return rows;
    const whoIn = (one: SubjectRow | undefined): string | null | undefined =>
      isSameAfter ? one?.assumedBefore : (one?.assumedAfter ?? one?.assumedBefore);
    // Its rows say that it does not gain or lose them any more.
    if (!next && rows.length > 0) return rows;
    const when = isSameAfter ? ", before the change" : "";
    const shown = old ? `; in the seal: ${whoIn(old) ?? "it did not exist"}` : "; the seal has no change of it";
    const message = next
      ? `who ${name} is${when}, now: ${whoIn(next) ?? "it did not exist"}${shown}`
      : `who ${name} is would not change any more${shown}`;
    return [...rows, { what: "assumable", subject, message }];
  });
};

/** Who can assume the identities of rows, where the words of the rows are the same: an update compares the relationship itself. */
const assumableDifferences = ({ seal, now, sealed, change }: Compared, rows: readonly Difference[]): Difference[] => {
  const said = new Set(rows.flatMap(({ what, subject }) => (what === "assumable" ? [subject] : [])));
  // The change does not rest on other identities.
  const matters = new Set([...[...seal.rows, ...now.rows].map(({ uid }) => uid), ...Object.keys(seal.owners)]);
  const shown = [sealed.before, sealed.after].map(({ identities }) => identities);
  const later = change.after.identities;
  const others = [...change.before.identities.values()].filter(({ id, relationship }) => {
    if (!matters.has(id) || said.has(id)) return false;
    const owns = shown.flatMap((identities) => identities.get(id) ?? []);
    const isShown = (one: Json | null): boolean => owns.some((own) => isSameRelationship(own.relationship, one));
    return owns.length > 0 && !(isShown(relationship) && isShown(later.get(id)?.relationship ?? relationship));
  });
  return others.map(({ id, name }) => ({
    what: "assumable",
    subject: id,
    message: `who can assume ${name} is not what the seal shows`,
  }));
};

/** What identities hold of which another workload is to be, where the seal has it neither before nor after the change. */
const heldDifferences = (sealed: Change, { before, after }: Change): Difference[] =>
  [...before.identities.values()].flatMap(({ id, name, relationship }) => {
    const later = after.identities.get(id);
    if (!later || textOf(later.relationship) === textOf(relationship)) return [];
    return sealed.heldBeyond(before, id).map(({ capability, group }) => {
      const end = ` at ${before.groups.get(group)?.name ?? group}: this is not in the seal`;
      return rowDifference(id, [`${name}, which another workload is to assume, holds `, end], capability);
    });
  });

/** What a subject may hold while the update runs, and the seal does not have; beyond what its rows say. */
const transientDifferences = (sealed: Change, change: Change): Difference[] => {
  const { before, after } = change;
  const subjects = new Map<string, { id: string; name: string }>(
    (["identities", "providers", "invites"] as const).flatMap((nodes) => [...before[nodes], ...after[nodes]]),
  );
  const rows = rowsBetween(before, after);
  return [...subjects.values()].flatMap(({ id, name }) =>
    notShown(change.gainsOf(id), [...sealed.gainsOf(id), ...rows(id).gains], after).map(({ capability, group }) => {
      const place = (after.groups.get(group) ?? before.groups.get(group))?.name ?? group;
      const end = ` at ${place} while the update runs: this is not in the seal`;
      return rowDifference(id, [`${name} may hold `, end], capability);
    }),
  );
};

/** Two new identities may share a name. */
const bySubject = (rows: readonly SubjectRow[]): Map<string, SubjectRow> => {
  const all = new Map<string, SubjectRow>();
  for (const row of rows) {
    let subject = subjectOf(row);
    while (all.has(subject)) subject += "'";
    all.set(subject, row);
  }
  return all;
};

interface RowText {
  verb: "gains" | "loses";
  capability: string;
  place: string;
}

/** By all that tells a row from another one. */
const textsOf = (row: SubjectRow | undefined): Map<string, RowText> =>
  new Map(
    [
      { verb: "gains" as const, rows: row?.gains ?? [] },
      { verb: "loses" as const, rows: row?.losses ?? [] },
    ].flatMap(({ verb, rows }) =>
      rows.map(({ capability, groupName, role, group }) => {
        const text = { verb, capability, place: `at ${groupName} (${group ?? "new"}), through ${role}` };
        return [JSON.stringify(text), text] as const;
      }),
    ),
  );
