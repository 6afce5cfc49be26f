// A copy of everything that the caller can list, without secrets: the records as the API lists them, with their uids and times. The
// reference server starts with it (`irm serve --copy-of`).

import type { z } from "zod";
import type { Client } from "../../client/client.ts";
import {
  ancestorsOf,
  fieldInfo,
  isObject,
  isRoot,
  isUidp,
  type Json,
  type Message,
  mapMessages,
  parentOf,
  resources,
  rootOf,
} from "../../schema/index.ts";
import {
  type ExportKind,
  KINDS,
  type NotVisible,
  type OnRead,
  readVisible,
  type VisibleRecords,
} from "../export/read.ts";
import { countText } from "../format/words.ts";
import { groupOf } from "../graph/hidden.ts";
import { type Listed, relationshipOf } from "../graph/live-record.ts";
import { yamlText } from "../text.ts";

// Records that other records name and no list contained: they are not visible to the caller or were deleted meanwhile. The copy keeps as
// much of them as other records show.

type Records = VisibleRecords["records"];

const namedRoles = ({ role, roleBinding, groupInvite, identityProvider, externalGroupRoleMapping }: Records) => {
  const listed = uidsOf(role);
  const roles = new Map<string, Listed>();
  const shown: unknown[] = [
    ...[...roleBinding, ...groupInvite].map((one) => one.role),
    ...identityProvider.map(({ defaultRole: uid }) => ({ uid })),
    ...externalGroupRoleMapping.map(({ roleUid: uid }) => ({ uid })),
  ];
  for (const one of shown) {
    if (!isShown(one) || listed.has(one.uid)) continue;
    const { uid, capabilities } = one;
    roles.set(uid, { ...named(one), ...(Array.isArray(capabilities) && { capabilities }), ...roles.get(uid) });
  }
  return [...roles.values()];
};

const isShown = (one: unknown): one is Listed => isObject(one) && isUidp(one.uid);

const namedIdentities = ({ identity, roleBinding }: Records): Listed[] => {
  const listed = new Map(identity.map((one) => [one.uid, one]));
  const identities = new Map<string, Listed>();
  for (const { identity: shown } of roleBinding) {
    if (!isShown(shown) || identities.has(shown.uid)) continue;
    const own = listed.get(shown.uid);
    const signIn = textsIn(shown, ["issuer", "subject"]);
    if (own === undefined) identities.set(shown.uid, { ...named(shown), ...textsIn(shown, ["email"]), ...signIn });
    else if (relationshipOf(own) === null && Object.keys(signIn).length > 0)
      identities.set(shown.uid, { uid: shown.uid, ...signIn });
  }
  return [...identities.values()];
};

const namedGroups = (records: Records, others: readonly Listed[]): Listed[] => {
  const { group, roleBinding, externalGroupRoleMapping } = records;
  const listed = uidsOf(group);
  const shown = new Map(roleBinding.map(({ group: own, uid }) => [parentOf(uid), isObject(own) ? own : {}]));
  const places = [
    ...KINDS.flatMap((kind) => records[kind].map(({ uid }) => groupOf(kind, uid))),
    ...others.map(({ uid }) => parentOf(uid)),
    ...externalGroupRoleMapping.map(({ scope }) => (isUidp(scope) ? scope : "")),
  ];
  const needed = new Set([...new Set(places)].flatMap((uid) => (uid === "" ? [] : [...ancestorsOf(uid), uid])));
  // Groups show the kind and the status of their organization.
  const below = new Map(group.map((one) => [rootOf(one.uid), one]));
  return [...needed]
    .filter((uid) => !listed.has(uid))
    .sort()
    .map((uid) => ({
      ...named({ ...shown.get(uid), uid }),
      ...(isRoot(uid) && textsIn(below.get(uid) ?? {}, ["kind", "status"])),
    }));
};

const uidsOf = (records: readonly { uid: string }[]) => new Set(records.map(({ uid }) => uid));

const named = (shown: Listed): Listed => {
  const { uid } = shown;
  return { uid, name: lastSegment(uid), ...textsIn(shown, ["name", "description"]) };
};

/** A name must not be empty: the last part of the uid. */
const lastSegment = (uid: string) => uid.slice(uid.lastIndexOf("/") + 1);

const textsIn = (record: Json, names: readonly string[]): Json =>
  Object.fromEntries(
    names.flatMap((name) => (typeof record[name] === "string" && record[name] !== "" ? [[name, record[name]]] : [])),
  );

export interface Copy {
  copy: {
    /** address of the service */
    of: string;
    /** when the records were read, by the clock of the service: RFC 3339 */
    time: string;
    /** where the caller cannot list */
    notVisible: NotVisible[];
    /** records that were listed and are not in the copy */
    leftOut: { kind: ExportKind; uid: string; name: string; why: string }[];
    /** values of the records that a copy never contains, in words: they decide no access */
    notCopied: string[];
    /** fields of the records that this version does not know, in words */
    unknownFields: string[];
  };
  records: { [P in (typeof resources)[ExportKind]["plural"]]?: Listed[] };
  /**
   * Records that other records name and no list contained. A role also has its capabilities if an invite shows them; otherwise the copy
   * grants nothing by it. A listed person has only the uid and the sign-in: its own record does not contain the sign-in.
   */
  named: Record<"groups" | "roles" | "identities", Listed[]>;
}

/** `of`: the address. Only reads. */
export const readCopy = async (
  client: Pick<Client, "call" | "clock" | "serviceNow">,
  of: string,
  onRead?: OnRead,
): Promise<Copy> => {
  const { records: listed, notVisible } = await readVisible(client, onRead);
  const nowMs = await client.serviceNow();
  const unknown = new Map<string, number>();
  const records: Copy["records"] = {};
  for (const kind of KINDS) {
    const { plural, schema, words } = resources[kind];
    const onUnknown = (path: string) => {
      const text = `field ${path} of ${words}, which this version does not know`;
      unknown.set(text, (unknown.get(text) ?? 0) + 1);
    };
    const kept = listed[kind].map((one) => knownFields(schema, SEEDED[kind]?.(one) ?? one, onUnknown) as Listed);
    if (kept.length > 0) records[plural] = kept;
  }
  const [roles, identities] = [namedRoles(listed), namedIdentities(listed)];
  return {
    copy: {
      of,
      time: new Date(nowMs).toISOString(),
      notVisible: [...notVisible],
      leftOut: [],
      notCopied: leftOutOf(listed),
      unknownFields: [...unknown].map(([text, count]) => `${text} (${count})`),
    },
    records,
    named: { groups: namedGroups(listed, [...roles, ...identities]), roles, identities },
  };
};

/** All records, with the plural of their kind: the records that are only named come first. */
export const recordsIn = ({ named, records }: Copy): [plural: string, record: Listed][] =>
  [...Object.entries(named), ...Object.entries(records)].flatMap(([plural, list]: [string, object[] | undefined]) =>
    (list ?? []).map((one): [string, Listed] => [plural, one as Listed]),
  );

/** The copy with an identity that no record names, and of which only the uid is known. */
export const withIdentity = (one: Copy, uid: string): Copy => {
  const { records, named } = one;
  const known = new Set([...(records.groups ?? []), ...named.groups].map((group) => group.uid));
  const groups = ancestorsOf(uid).filter((group) => !known.has(group));
  const nameless = (own: string) => ({ uid: own, name: lastSegment(own) });
  return {
    ...one,
    named: {
      ...named,
      groups: [...named.groups, ...groups.map(nameless)],
      identities: [...named.identities, nameless(uid)],
    },
  };
};

/** A record that refers to others only by uid. */
const SEEDED: Partial<Record<ExportKind, (record: Listed) => Json>> = {
  roleBinding: ({ identity, group: _, role, ...one }) => ({
    ...one,
    identityUid: uidOf(identity),
    roleUid: uidOf(role),
  }),
  groupInvite: ({ role, ...one }) => ({ ...one, roleUid: one.roleUid || uidOf(role) }),
};

const uidOf = (shown: unknown) => (isObject(shown) ? shown.uid : undefined);

/** Advisories and readmes do not affect access, and each readme needs a request. */
const leftOutOf = (records: Records) => [
  ...Object.entries(NOT_COPIED).flatMap(([kind, what]) => {
    const { length } = records[kind as ExportKind];
    const { word, words } = resources[kind as ExportKind];
    return length === 0 ? [] : [`${what} ${countText(length, word, words)}`];
  }),
  "advisories",
];

const NOT_COPIED: Partial<Record<ExportKind, string>> = {
  identityProvider: "the client secret, if there is one, of",
  groupInvite: "the code of",
  repo: "the readme of",
};

// The fields of a record that a copy may contain: those that this version knows, without secrets. An unknown field may contain a
// secret.

/** `onUnknown` gets the path of each field that is left out: `claimMatch.actor` */
const knownFields = (schema: Message, record: Json, onUnknown: (path: string) => void, path = ""): Json => {
  const known: Json = {};
  for (const [name, value] of Object.entries(record)) {
    const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
    if (field === undefined) onUnknown(path + name);
    else if (!fieldInfo(field).secret && value !== undefined)
      known[name] = mapMessages(field, value, (message, held) =>
        knownFields(message, held, onUnknown, `${path}${name}.`),
      );
  }
  return known;
};

// The file of a copy: a seed that `irm serve --seed` reads back to the same records.

/** The first line of every such file. */
export const COPY_HEAD = "# A copy of the records of a service, written by irm serve --copy-to.";

const ABOUT = `${COPY_HEAD}
# npx pulumi-irm serve --seed FILE starts a server with them: the same uids and times, no secrets (docs/server.md#copy).
`;

export const copyText = ({ copy, records, named: all }: Copy): string => {
  const named = withoutEmpty(all);
  return ABOUT + yamlText({ copy: withoutEmpty(copy), records, ...(Object.keys(named).length > 0 && { named }) });
};

const withoutEmpty = (lists: object): object =>
  Object.fromEntries(Object.entries(lists).filter(([, value]) => !Array.isArray(value) || value.length > 0));
