// Records and writes in a sentence, by their names in the copies and the writes.
import { fieldPaths, type Json, type Resource, resources, valueAt } from "../../schema/index.ts";
import { joinWithAnd, quote } from "../text.ts";
import type { Change } from "./change.ts";
import { methodOf } from "./methods.ts";
import type { CurrentChange, Terms } from "./terms.ts";
import type { Text } from "./text.ts";
import type { Write } from "./write.ts";

export type Titles = ReturnType<typeof titlesOf>;

export const titlesOf = (approved: Change, { content, normal, records }: CurrentChange, terms: Terms) => {
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
  const titled = ({ word, schema }: Resource, fields: Json): string => {
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
    write: ({ method: name, parent, uid, fields, mask }: Write): string => {
      const { resource } = methodOf(name);
      if (uid !== undefined) return `${name} ${record(uid)}${mask ? `: ${mask.join(", ")}` : ""}`;
      return `${name} ${titled(resource, fields)}${parent === undefined ? "" : ` in ${record(parent)}`}`;
    },
  };
};
