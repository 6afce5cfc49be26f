// Logical names: readable, unique, and equal in each run. They follow from the names of the records, never from their order.
import { parentOf, resources } from "../../schema/index.ts";
import { groupOf } from "../graph/hidden.ts";
import { type Listed, textIn } from "../graph/live-record.ts";
import { type Contents, type ExportKind, pathIn } from "./read.ts";
import type { Entry } from "./value.ts";

export interface Named {
  uid: string;
  /** the words of its name, from texts that others have chosen */
  words: readonly string[];
  /** path of its group, which distinguishes records of one name; empty: an organization */
  path: string;
  /** the name if the words have no letter and no digit */
  fallback: string;
}

const LENGTH_MAX = 80;

/** `Platform / registry` to `platform-registry`; empty if no letter and no digit is left. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .slice(0, 1024)
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join("-")
    .slice(0, LENGTH_MAX)
    .replace(/-$/, "");

/** `platform-registry` to `platformRegistry` */
const camelCase = (name: string) =>
  name
    .split("-")
    .map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");

/** A name as a variable of a program. */
export const identifier = (name: string): string => (/^[0-9]/.test(name) ? "_" : "") + camelCase(name);

// From the shortest to one that no other record has.
const SPELLINGS: readonly ((own: string, one: Named) => string)[] = [
  (own) => own,
  (own, { path }) => [slug(path), own].filter(Boolean).join("-"),
  (own, { uid }) => `${own}-${uid.split("/").at(-1)}`,
  (own, { uid }) => `${own}-${uid.replaceAll("/", "-")}`,
];

/** The names of records of one kind, by uid. Equal names are distinguished by the path of the group, then by the uid. */
export const uniqueNames = (records: readonly Named[]): Map<string, string> => {
  const levels = new Map(records.map(({ uid }) => [uid, 0]));
  const nameOf = (one: Named) => {
    const own = slug(one.words.join("-")) || one.fallback;
    return (SPELLINGS[levels.get(one.uid) as number] as (typeof SPELLINGS)[number])(own, one);
  };
  for (;;) {
    // Compared as variables: `a-1` and `a1` are equal.
    const same = Map.groupBy(records, (one) => camelCase(nameOf(one)).toLowerCase());
    const unclear = [...same.values()].filter((some) => some.length > 1).flat();
    const raised = unclear.filter(({ uid }) => (levels.get(uid) as number) < SPELLINGS.length - 1);
    if (raised.length === 0) return new Map(records.map((one) => [one.uid, nameOf(one)]));
    for (const { uid } of raised) levels.set(uid, (levels.get(uid) as number) + 1);
  }
};

// The parts of the logical name of a record. A record without its own name has the names of the records that it connects.

/** `entries`: the entries of the kinds before, whose names the others use. */
export const namedOf = (
  kind: ExportKind,
  record: Listed,
  contents: Contents,
  entries: ReadonlyMap<string, Entry>,
): Named => {
  const { uid } = record;
  const group = kind === "group" || kind === "accountAssociation" ? parentOf(uid) : groupOf(kind, uid);
  return {
    uid,
    words: (WORDS[kind] ?? ownName)(record, (other, of) => entries.get(`${other} ${of}`)?.name, contents),
    path: group === "" ? "" : pathIn(contents, group),
    fallback: resources[kind].word.replaceAll(" ", "-"),
  };
};

type NameOf = (kind: ExportKind, uid: string) => string | undefined;
type Words = (record: Listed, nameOf: NameOf, contents: Contents) => string[];

const ownName: Words = ({ name }) => [textIn(name)];

/** The name of another record in the program, or the one that the API shows. */
const nameIn = (record: Listed, field: string, kind: ExportKind, nameOf: NameOf) => {
  const { uid, name } = (record[field] ?? {}) as { uid?: unknown; name?: unknown };
  return nameOf(kind, textIn(uid)) ?? (textIn(name) || lastOf(textIn(uid)));
};

const lastOf = (uid: string) => uid.split("/").at(-1) ?? "";

/** The name of the record that holds another one. */
const holderName = (kind: ExportKind, uid: string, nameOf: NameOf) =>
  nameOf(kind, parentOf(uid)) ?? lastOf(parentOf(uid));

const WORDS: Partial<Record<ExportKind, Words>> = {
  roleBinding: (record, nameOf) => [
    nameIn(record, "identity", "identity", nameOf),
    nameIn(record, "role", "role", nameOf),
    holderName("group", record.uid, nameOf),
  ],
  groupInvite: (record, nameOf) => [
    holderName("group", record.uid, nameOf),
    nameIn(record, "role", "role", nameOf),
    textIn(record.email) || textIn(record.keyId),
  ],
  externalGroupRoleMapping: ({ uid, externalGroupId, roleUid }, nameOf, { builtInRoles }) => {
    const role = textIn(roleUid);
    return [
      holderName("identityProvider", uid, nameOf),
      textIn(externalGroupId),
      nameOf("role", role) ?? builtInRoles.get(role) ?? lastOf(role),
    ];
  },
  tag: ({ uid, name }, nameOf) => [holderName("repo", uid, nameOf), textIn(name)],
};
