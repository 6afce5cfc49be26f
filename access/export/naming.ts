// What the logical name of a record is made of. A record without a name of its own has the names of what it connects.
import { parentOf, resources } from "../../schema/index.ts";
import type { Listed } from "../graph/live-record.ts";
import type { Named } from "./names.ts";
import { type Contents, type ExportKind, groupOf, pathIn } from "./read.ts";
import type { Entry } from "./value.ts";

type Entries = ReadonlyMap<string, Entry>;

/** `entries` are those of the kinds before, whose names the others take. */
export const namedOf = (kind: ExportKind, record: Listed, contents: Contents, entries: Entries): Named => {
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

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

const ownName: Words = ({ name }) => [textIn(name)];

/** The name of another record in the program, or the one that the API shows. */
const nameIn = (record: Listed, field: string, kind: ExportKind, nameOf: NameOf): string => {
  const { uid, name } = (record[field] ?? {}) as { uid?: unknown; name?: unknown };
  return nameOf(kind, textIn(uid)) ?? (textIn(name) || lastOf(textIn(uid)));
};

const lastOf = (uid: string): string => uid.split("/").at(-1) ?? "";

const roleName = (uid: string, nameOf: NameOf, { builtInRoles }: Contents): string =>
  nameOf("role", uid) ?? builtInRoles.get(uid) ?? lastOf(uid);

const groupName = (uid: string, nameOf: NameOf): string => nameOf("group", uid) ?? lastOf(uid);

const WORDS: Partial<Record<ExportKind, Words>> = {
  roleBinding: (record, nameOf) => [
    nameIn(record, "identity", "identity", nameOf),
    nameIn(record, "role", "role", nameOf),
    groupName(parentOf(record.uid), nameOf),
  ],
  groupInvite: (record, nameOf) => [
    groupName(parentOf(record.uid), nameOf),
    nameIn(record, "role", "role", nameOf),
    textIn(record.email) || textIn(record.keyId),
  ],
  externalGroupRoleMapping: ({ uid, externalGroupId, roleUid }, nameOf, contents) => [
    nameOf("identityProvider", parentOf(uid)) ?? lastOf(parentOf(uid)),
    textIn(externalGroupId),
    roleName(textIn(roleUid), nameOf, contents),
  ],
  tag: ({ uid, name }, nameOf) => [nameOf("repo", parentOf(uid)) ?? lastOf(parentOf(uid)), textIn(name)],
};
