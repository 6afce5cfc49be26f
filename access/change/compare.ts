// Whether a change that was computed again, on a fresh copy, is the approved one or the rest of it. A run that ended halfway can be
// repeated. A manual edit that matters stops it.
import { ancestorsOf, fieldPaths, isWithin, type Json, type Resource, resources, valueAt } from "../../schema/index.ts";
import { canonical } from "../canonical.ts";
import { joinWithAnd, quote } from "../text.ts";
import type { Change, ChangeAfter, ChangeContent, ChangeRow } from "./change.ts";
import { methodOf } from "./methods.ts";
import { digestsOf, type RecordOf, recordFields, valueDigest } from "./rows.ts";
import { type CurrentChange, formOf, type Terms, termsOf } from "./terms.ts";
import type { Text } from "./text.ts";
import { decidesNothing } from "./unknown.ts";
import type { Write } from "./write.ts";

export interface Compared {
  /** why it is another change, one sentence each; empty: it may be applied */
  problems: string[];
  /** writes of the new computation that are not in the approved change, and decide no access */
  added: Write[];
  /** how many writes remain, without `added` */
  left: number;
}

export const compareChanges = (approved: Change, current: CurrentChange): Compared => {
  const apart = headProblems(approved, current.content);
  // Other services have other records.
  if (apart.length > 0) return { problems: apart, added: [], left: current.content.writes.length };
  const terms = termsOf(approved, current);
  const titles = titlesOf(approved, current, terms);
  // Values that the state marks as secret stay hidden.
  const comparable = (text: string): Text => terms.current(current.normal.encodeText(text));
  const parts = { approved, current, terms, titles, comparable };
  const { problems, added } = compareWrites(parts);
  return {
    problems: [...rowProblems(parts), ...afterProblems(parts), ...problems, ...restoredProblems(parts)],
    added,
    left: current.content.writes.length - added.length,
  };
};

interface Parts {
  approved: Change;
  current: CurrentChange;
  terms: Terms;
  titles: ReturnType<typeof titlesOf>;
  /** encodes a text of the copies in terms of the approved change */
  comparable(text: string): Text;
}

const headProblems = (approved: ChangeContent, current: ChangeContent): string[] => {
  const texts = (content: ChangeContent): [what: string, text: string][] => [
    ["is for", content.services.join(", ")],
    ["is of stack", content.stack],
    ["is an", content.operation],
    ["has the arguments", content.arguments.join(" ") || "none"],
    ["is applied by", content.as],
  ];
  const own = texts(current);
  return texts(approved).flatMap(([what, text], i) => {
    const [, now] = own[i] as [string, string];
    return text === now ? [] : [`the approved change ${what} ${quote(text)}, and this one: ${quote(now)}`];
  });
};

const rowProblems = ({ approved, current, terms, titles }: Parts): string[] => {
  const allowed = new Set(
    terms
      .approved([...approved.rows, ...approved.between])
      .map(({ change, identity, group, capability }) => canonical([change, identity, group, capability])),
  );
  const isAllowed = ({ change, identity, group, capability }: ChangeRow) => {
    const place = terms.plain(group);
    // For a loss, the approved change may contain the row of a group above: halfway through it, less is given there.
    const places = change === "loss" ? [place, ...ancestorsOf(place)] : [place];
    return places.some((one) =>
      allowed.has(canonical([change, terms.current(identity), terms.encodeText(one), capability])),
    );
  };
  const others = current.content.rows.filter((row) => !isAllowed(row));
  return [...Map.groupBy(others, ({ change, identity, group }) => canonical([change, identity, group])).values()].map(
    (rows) => {
      const { change, identity, group } = rows[0] as ChangeRow;
      const what = joinWithAnd(rows.map(({ capability }) => capability));
      const subject = titles.record(terms.current(identity));
      return `${subject} would ${change === "gain" ? "gain" : "lose"} ${what} at ${titles.record(terms.current(group))}, and the approved change does not say so`;
    },
  );
};

const afterProblems = ({ approved, current: { held }, terms, titles, comparable }: Parts): string[] => {
  const { writes, services } = terms.approved(approved);
  const subjects = Map.groupBy(terms.approved(approved.after), ({ service, identity }) =>
    canonical([service ?? "", identity]),
  );
  return [...subjects.values()].flatMap((entries) => {
    const { service = services[0] as string } = entries[0] as ChangeAfter;
    const identity = entries[0]?.identity as Text;
    const now = terms
      .uids(identity)
      .map((uid) => digestsOf(held.get(service)?.(uid), { identity, writes, encodeText: comparable }));
    // A record that the change has created and deleted again no longer has a uid.
    while (now.length < entries.length) now.push({ access: null });
    const apart = (["access", "signIn"] as const).filter((part) => {
      const [one, other] = [entries, now].map((all) => all.map((own) => String(own[part])).sort());
      return canonical(one) !== canonical(other);
    });
    if (apart.length === 0) return [];
    const title = titles.record(identity);
    const isGone = now.some(({ access }) => access === null) && entries.every(({ access }) => access !== null);
    if (isGone) return [`${title} would not be there after it as the approved change leaves it`];
    return [
      apart[0] === "access"
        ? `${title} would hold other capabilities after it than the approved change says`
        : `others could act as ${title} after it than the approved change says`,
    ];
  });
};

const compareWrites = (parts: Parts) => {
  const { approved, current, terms, titles } = parts;
  const writes = terms.approved(approved.writes);
  const unspent = Map.groupBy(
    writes.filter(({ uid }) => uid === undefined),
    formOf,
  );
  const targetOf = ({ service, method, uid }: Write) => canonical([service ?? "", method, uid ?? ""]);
  const updates = Map.groupBy(
    writes.filter(({ mask }) => mask),
    targetOf,
  );
  const isDeleted = deletionsIn(writes, terms);
  const sayAgain = (write: Write) => `${titles.write(write)}: the approved change does not send this request`;
  const editedIn = editedBy(parts);
  const problems: string[] = [];
  const added: Write[] = [];
  for (const made of current.content.writes) {
    const write = terms.write(made);
    const method = methodOf(write.method);
    if (method.verb === "create") {
      const known = unspent.get(formOf(write));
      if (known?.pop()) continue;
      if (method.resource.givesNoAccess) added.push(made);
      else if (known) problems.push(`${titles.write(write)}: the approved change sends this request less often`);
      else problems.push(sayAgain(write));
    } else if (method.verb === "delete") {
      const uid = terms.plain(made.uid);
      if (isDeleted(uid, write.service)) continue;
      // A create has made a replacement: `after` checks the access that remains there.
      if (terms.shownOnce.has(uid)) continue;
      if (method.resource.givesNoAccess) added.push(made);
      else problems.push(sayAgain(write));
    } else {
      const known = updates.get(targetOf(write)) ?? [];
      const others = (write.mask ?? []).filter((path) => !known.some((one) => givesSame(one, write, path)));
      const deciding = others.filter((path) => !decidesNothing(method, path));
      const edited = editedIn(write, known);
      if (deciding.length > 0) problems.push(sayAgain({ ...write, mask: deciding }));
      else if (edited.length > 0)
        problems.push(
          `${titles.write({ ...write, mask: edited })}: since the approval somebody has changed it by hand, and this would change it again`,
        );
      else if (others.length > 0) added.push(made);
    }
  }
  return { problems, added };
};

/** Whether the approved change deletes a record, by itself or with a record that contains it. */
const deletionsIn = (writes: readonly Write[], terms: Terms) => {
  const deleted = new Set(
    writes.flatMap(({ service, method, uid }) =>
      methodOf(method).verb === "delete" ? [canonical([service ?? "", uid])] : [],
    ),
  );
  return (uid: string, service = "") =>
    [uid, ...ancestorsOf(uid)].some((one) => deleted.has(canonical([service, terms.encodeText(one)])));
};

/** An update may be sent in parts. */
const givesSame = (approved: Write, write: Write, path: string) =>
  (approved.mask ?? []).some((one) => isWithin(path, one)) &&
  canonical(valueAt(approved.fields, path)) === canonical(valueAt(write.fields, path));

/** Paths of an update whose value is neither the one that the approved change replaces nor one that it sets. */
const editedBy = ({ approved, current: { records, content }, comparable }: Parts) => {
  const before = new Map(approved.before.map(({ n, path, value }) => [`${n} ${path}`, value]));
  const index = new Map(
    [...records].flatMap(([address, all]) =>
      Object.entries(all).flatMap(([plural, list]) =>
        (list ?? []).map((one) => [`${address} ${plural} ${one.uid}`, one] as const),
      ),
    ),
  );
  const recordOf: RecordOf = (plural, uid, service = content.services[0]) => index.get(`${service} ${plural} ${uid}`);
  return (write: Write, known: readonly Write[]): string[] => {
    const fields = recordFields(write, { recordOf, encodeText: comparable });
    if (fields === undefined) return [];
    return (write.mask ?? []).filter((path) => {
      const covering = known.flatMap(({ n, mask = [] }) =>
        mask.filter((one) => isWithin(path, one)).map((one) => ({ one, value: before.get(`${n} ${one}`) })),
      );
      return covering.some(({ one, value }) => {
        const given = known.map((update) => valueDigest(update.fields, one));
        return value !== undefined && ![value, ...given].includes(valueDigest(fields, one));
      });
    });
  };
};

const restoredProblems = ({ approved, current, terms, titles }: Parts): string[] => {
  const isDeleted = deletionsIn(terms.approved(approved.writes), terms);
  const known = new Set(approved.restored.map(({ n, uid }) => canonical([approved.writes[n - 1]?.method, uid])));
  return current.content.restored.flatMap(({ n, uid }) => {
    const write = terms.write(current.content.writes[n - 1] as Write);
    const { method, service, mask } = write;
    const decides = mask
      ? mask.some((path) => !decidesNothing(methodOf(method), path))
      : !methodOf(method).resource.givesNoAccess;
    if (!decides || isDeleted(uid, service) || known.has(canonical([method, uid]))) return [];
    const edit = mask
      ? "somebody has changed it by hand, and this would change it back"
      : "somebody has removed it by hand, and this would make it again";
    return [`${titles.write(write)}: since the approval ${edit}`];
  });
};

// Records and writes in a sentence, by their names in the copies and the writes.

const titlesOf = (approved: Change, { content, normal, records }: CurrentChange, terms: Terms) => {
  const kinds = new Map(Object.values<Resource>(resources).map((one) => [one.plural, one]));
  const known = new Map<string, [Resource, Json]>();
  for (const all of records.values())
    for (const [plural, list] of Object.entries(all)) {
      const kind = kinds.get(plural);
      for (const one of list ?? []) if (kind) known.set(String(one.uid), [kind, one]);
    }
  for (const { n, method, fields } of content.writes) {
    const uid = normal.uids.get(n);
    if (uid !== undefined) known.set(uid, [methodOf(method).resource, terms.write({ n, method, fields }).fields]);
  }
  const record = (text: Text): string => {
    if (typeof text === "string") {
      const found = known.get(text);
      return found ? titled(...found) : quote(text);
    }
    if (!("$uid" in text)) return JSON.stringify(text);
    const { method, fields } = terms.approved(approved.writes[text.$uid - 1] as Write);
    return titled(methodOf(method).resource, fields);
  };
  const titled = ({ word, schema }: Resource, fields: Json) => {
    if (typeof fields.name === "string") return `${word} ${quote(fields.name)}`;
    const of = fieldPaths(schema, ({ references }) => references !== undefined).flatMap((path) => {
      const value = valueAt(fields, path);
      return value === undefined ? [] : [record(value as Text)];
    });
    return of.length === 0 ? `a ${word}` : `${word} of ${joinWithAnd(of)}`;
  };
  return {
    /** a text of the approved change */
    record,
    /** a write in its terms */
    write: ({ method: name, parent, uid, fields, mask }: Write) => {
      const { resource } = methodOf(name);
      if (uid !== undefined) return `${name} ${record(uid)}${mask ? `: ${mask.join(", ")}` : ""}`;
      return `${name} ${titled(resource, fields)}${parent === undefined ? "" : ` in ${record(parent)}`}`;
    },
  };
};
