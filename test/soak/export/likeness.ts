// Whether two organizations are alike: the same records, which refer to each other in the same way, whatever their uids. Colours of a
// record follow from its own fields and those of what it is connected with (the method of Weisfeiler and Leman).
import { createHash } from "node:crypto";
import { equalityKey } from "../../../access/canonical.ts";
import { type Contents, KINDS } from "../../../access/export/read.ts";
import { isObject, type Json, parentOf } from "../../../schema/index.ts";

/** What a service sets by itself, and what no program says. */
const LEFT_OUT = ["createTime", "updateTime", "lastSeenTime", "expirationTime", "keyId", "kind", "status"];

interface Edge {
  at: string;
  other: string;
  how: string;
}

/** Colours of all records, and what a reader is shown of them. */
const coloursOf = (records: Contents["records"]): Map<string, string[]> => {
  const nodes = KINDS.flatMap((kind) =>
    records[kind].map((record) => ({ kind, record, key: `${kind} ${record.uid}` })),
  );
  const byUid = Map.groupBy(nodes, ({ record }) => record.uid);
  const edges: Edge[] = [];
  const connect = (from: string, uid: string, how: string): void => {
    for (const { key } of byUid.get(uid) ?? [])
      if (key !== from)
        edges.push({ at: from, other: key, how: `> ${how}` }, { at: key, other: from, how: `< ${how}` });
  };
  const labels = new Map(
    nodes.map(({ kind, record, key }) => {
      /** Of what is outside, such as a built-in role, the uid counts. */
      const ownOf = (value: unknown, how: string): unknown => {
        if (Array.isArray(value)) return value.map((one) => ownOf(one, how));
        if (isObject(value))
          return Object.fromEntries(
            Object.entries(value)
              .filter(([name]) => !LEFT_OUT.includes(name))
              .map(([name, one]) => [name, ownOf(one, `${how}.${name}`)]),
          );
        if (typeof value !== "string" || !byUid.has(value)) return value;
        connect(key, value, how);
        return "of a record";
      };
      const { uid, createTime, expirationTime, ...fields } = record as Json & { uid: string };
      const lastsMs = Date.parse(String(expirationTime)) - Date.parse(String(createTime));
      for (const place of [uid, parentOf(uid)]) connect(key, place, "in");
      return [key, `${kind} ${equalityKey({ ...(ownOf(fields, "") as Json), lastsMs: String(lastsMs) })}`];
    }),
  );
  const around = Map.groupBy(edges, ({ at }) => at);
  let colours = labels;
  for (let distinct = 0, before = -1; distinct !== before; ) {
    const next = new Map(
      nodes.map(({ key }) => {
        const near = (around.get(key) ?? []).map(({ other, how }) => `${how} ${colours.get(other)}`).sort();
        const text = JSON.stringify([colours.get(key), near]);
        return [key, createHash("sha1").update(text).digest("hex")];
      }),
    );
    [before, distinct] = [distinct, new Set(next.values()).size];
    colours = next;
  }
  const shown = Map.groupBy(nodes, ({ key }) => `${colours.get(key)}`);
  return new Map([...shown].map(([colour, all]) => [colour, all.map(({ key }) => labels.get(key) as string)]));
};

/** What differs; empty where they are alike. */
export const differencesBetween = (one: Contents["records"], other: Contents["records"]): string[] => {
  const [a, b] = [coloursOf(one), coloursOf(other)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((colour) => {
    const [here, there] = [a.get(colour) ?? [], b.get(colour) ?? []];
    if (here.length === there.length) return [];
    return [`${here.length} and ${there.length} of ${here[0] ?? there[0]}`];
  });
};
