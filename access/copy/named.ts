// What records name and no list had, since it is not visible to the caller or went away meanwhile: as far as the records show it, so that
// a copy keeps them.
import { ancestorsOf, isObject, isRoot, isUidp, type Json, parentOf, rootOf } from "../../schema/index.ts";
import { groupOf, KINDS, type VisibleRecords } from "../export/read.ts";
import { relationshipOf } from "../graph/live-record.ts";

interface Named {
  uid: string;
  name?: string;
  description?: string;
}

export interface NamedGroup extends Named {
  kind?: string;
  status?: string;
}

export interface NamedRole extends Named {
  /** as an invite shows them; absent: not known, and the copy grants nothing by it */
  capabilities?: (string | number)[];
}

/** Of a person who is listed, only the uid and the sign-in: its own record does not have that. */
export interface NamedIdentity extends Named {
  email?: string;
  issuer?: string;
  subject?: string;
}

export interface NamedRecords {
  groups: NamedGroup[];
  roles: NamedRole[];
  identities: NamedIdentity[];
}

type Records = VisibleRecords["records"];

export const namedBy = (records: Records): NamedRecords => {
  const roles = namedRoles(records);
  const identities = namedIdentities(records);
  return { groups: namedGroups(records, [...roles, ...identities]), roles, identities };
};

const namedRoles = ({ role, roleBinding, groupInvite, identityProvider, externalGroupRoleMapping }: Records) => {
  const listed = uidsOf(role);
  const roles = new Map<string, NamedRole>();
  const add = (uid: unknown, shown: NamedRole | undefined): void => {
    if (!isUidp(uid) || listed.has(uid)) return;
    roles.set(uid, { ...(shown ?? { uid, name: lastSegment(uid) }), ...roles.get(uid) });
  };
  for (const one of [...roleBinding, ...groupInvite]) {
    const { role: shown } = one;
    if (!isObject(shown) || !isUidp(shown.uid)) continue;
    const { capabilities } = shown;
    add(shown.uid, { ...named(shown), ...(Array.isArray(capabilities) && { capabilities }) });
  }
  for (const { defaultRole } of identityProvider) add(defaultRole, undefined);
  for (const { roleUid } of externalGroupRoleMapping) add(roleUid, undefined);
  return [...roles.values()];
};

const namedIdentities = ({ identity, roleBinding }: Records): NamedIdentity[] => {
  const listed = new Map(identity.map((one) => [one.uid, one]));
  const identities = new Map<string, NamedIdentity>();
  for (const { identity: shown } of roleBinding) {
    if (!isObject(shown) || !isUidp(shown.uid) || identities.has(shown.uid)) continue;
    const own = listed.get(shown.uid);
    const signIn = textsIn(shown, ["issuer", "subject"]);
    if (own === undefined)
      identities.set(shown.uid, { ...named(shown), ...textsIn(shown, ["email"]), ...signIn } as NamedIdentity);
    else if (relationshipOf(own) === null && Object.keys(signIn).length > 0)
      identities.set(shown.uid, { uid: shown.uid, ...signIn });
  }
  return [...identities.values()];
};

const namedGroups = (records: Records, others: readonly Named[]): NamedGroup[] => {
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

const uidsOf = (records: readonly { uid: string }[]): ReadonlySet<string> => new Set(records.map(({ uid }) => uid));

const named = (shown: Json): Named => {
  const uid = shown.uid as string;
  return { uid, name: lastSegment(uid), ...textsIn(shown, ["name", "description"]) };
};

/** A name has to be something: the last part of the uid. */
export const lastSegment = (uid: string): string => uid.slice(uid.lastIndexOf("/") + 1);

const textsIn = (record: Json, names: readonly string[]): Json =>
  Object.fromEntries(
    names.flatMap((name) => (typeof record[name] === "string" && record[name] !== "" ? [[name, record[name]]] : [])),
  );
