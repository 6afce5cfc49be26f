// Records that a copy lacks because its reader could not see them. Requests for them get PERMISSION_DENIED and never NOT_FOUND, as for
// a caller who may not read (docs/internals/contract.md#d5). A record that was not copied does not count as deleted.
import type { z } from "zod";
import {
  apiError,
  fieldInfo,
  isAncestor,
  isAncestorOrSelf,
  isObject,
  isUidp,
  type Json,
  type Operation,
  type OperationName,
  operations,
  parentOf,
  type Resource,
  resources,
  valueAt,
} from "../../schema/index.ts";
import type { Kind } from "../services/record.ts";
import { capabilitiesOfRole } from "../services/role.ts";
import { shapes } from "../store/shape.ts";
import type { Shape, Store } from "../store/store.ts";
import { COPIED_KINDS, type CopiedKind, groupOf } from "./copy.ts";

export interface Unseen {
  /** kinds whose lists were not answered, and kinds with a group where nothing could be listed: `role 7209…/a033…` */
  places: readonly string[];
  /** kind and uid of records that are known only by name */
  named: readonly string[];
  /** kind and uid of records that were read, but that the copy omits */
  leftOut: readonly string[];
}

/**
 * Returns a function that throws PERMISSION_DENIED for a request about a record that the copy lacks, and that exists or may exist elsewhere.
 * `isTwin`: refuses to list a group whose records are not in the copy. Without it, such a list shows the records that the reader of the
 * copy saw.
 */
export const createDemandSeen = (store: Store, { places, named, leftOut }: Unseen, isTwin: boolean) => {
  const hidden = new Set(places);
  const known = new Set([...named, ...leftOut]);
  const isStored = (kind: Kind, uid: string) => store.get(shapes[kind], uid) !== undefined;

  /** Whether the group may contain a record of the kind that the copy lacks. A group from here contains only records from here. */
  const mayHold = (kind: Kind, group: string): boolean => {
    if (hidden.has(kind)) return true;
    // Another organization, or a person, who is in none.
    if (group === "") return kind === "group" || kind === "identity";
    if (isStored("group", group)) return hidden.has(`${LISTED_WITH[kind] ?? kind} ${group}`);
    const above = parentOf(group);
    return mayHold("group", above) || (kind !== "group" && mayHold(kind, above));
  };
  const storedPlace = (kind: CopiedKind, uid: string) => {
    if (kind === "group") return parentOf(uid);
    // A request about a group itself asks whether the records in it can be listed (client/records.ts).
    const places = kind === "accountAssociation" ? [uid, parentOf(uid)] : [parentOf(uid), groupOf(kind, uid)];
    return places.find((place) => isStored("group", place)) ?? groupOf(kind, uid);
  };
  const isUnseen = (kind: Kind, uid: string): boolean => {
    if (known.has(`${kind} ${uid}`)) return true;
    if (isStored(kind, uid)) return false;
    return !isCopied(kind) || mayHold(kind, storedPlace(kind, uid));
  };

  const refuse = (text: string) => {
    throw apiError("PERMISSION_DENIED", `${text}: read the original with credentials that may list them`);
  };
  const demandRecord = (kind: Kind, uid: unknown) => {
    if (isUidp(uid) && isUnseen(kind, uid))
      refuse(`${resources[kind].word} ${uid} may exist, and this copy does not have all ${resources[kind].words}`);
  };
  const demandPlace = (kind: Kind, group: unknown) => {
    if (isUidp(group) && mayHold(kind, group))
      refuse(`this copy does not have the ${resources[kind].words} of ${group}`);
  };
  /** Records in a group, and references to a role, prevent its deletion. */
  const demandUnused = (kind: Kind, uid: string) => {
    const users = USERS[kind];
    const top = kind === "group" ? uid : parentOf(uid);
    const isUser = (place: string): boolean => {
      const [own, group] = place.split(" ") as [Kind, string | undefined];
      return users?.includes(own) === true && (group === undefined || isAncestorOrSelf(top, group));
    };
    const isInUse =
      places.some(isUser) ||
      (kind === "group" && leftOut.some((one) => isAncestor(uid, one.slice(one.indexOf(" ") + 1))));
    if (isInUse) refuse(`records that keep ${resources[kind].word} ${uid} may exist, and this copy does not have them`);
  };
  const demandReferences = (kind: Kind, record: unknown) => {
    if (!isObject(record)) return;
    for (const [field, type] of Object.entries(resources[kind].schema.shape)) {
      const { references } = fieldInfo(type as z.ZodType);
      const target = Object.values<Resource>(resources).find((one) => one.type === references)?.field as
        | Kind
        | undefined;
      const uid = record[field];
      if (!target || !isUidp(uid)) continue;
      const row = store.get(shapes[target], uid);
      // The capabilities of the role decide what is granted. The identity gains them even if only its name is known.
      if (!row || (target === "role" && capabilitiesOfRole(row).length === 0)) demandRecord(target, uid);
    }
  };

  return (operation: OperationName, request: Json) => {
    const kind = KINDS.get(operation);
    if (!kind) return;
    const { field, parent, words, list, operations: standard }: Resource = resources[kind];
    if (operation === list.operation) {
      if (hidden.has(kind)) refuse(`this copy does not have the ${words}`);
      const { childrenOf, descendantsOf } = (request.uidp ?? {}) as Json;
      if (isTwin && isCopied(kind))
        for (const group of [childrenOf, descendantsOf, request.group]) demandPlace(kind, group);
      return;
    }
    if (operation === standard.create || operation.startsWith("BatchCreate")) {
      if (parent === "Group") demandPlace(kind, request.parent);
      else demandRecord(parent === "Repo" ? "repo" : "identityProvider", request.parent);
    } else {
      const uid = valueAt(request, (operations[operation] as Operation).scope ?? "uid");
      demandRecord(kind, uid);
      if (operation === standard.delete && isUidp(uid)) demandUnused(kind, uid);
    }
    const batch = Array.isArray(request.requests) ? (request.requests as Json[]) : [];
    for (const record of [request, request[field], ...batch.map((one) => one[field])]) demandReferences(kind, record);
  };
};

/** The uids that no list shows, by shape. */
export const unlistedIn = ({ named }: Unseen): ReadonlyMap<Shape, readonly string[]> => {
  const byKind = Map.groupBy(
    named.map((one) => one.split(" ") as [Kind, string]),
    ([kind]) => kind,
  );
  return new Map([...byKind].map(([kind, all]) => [shapes[kind], all.map(([, uid]) => uid)]));
};

const isCopied = (kind: Kind): kind is CopiedKind => (COPIED_KINDS as readonly Kind[]).includes(kind);

/** The right to list one kind includes the other. */
const LISTED_WITH: Partial<Record<Kind, Kind>> = { externalGroupRoleMapping: "identityProvider" };

/** By kind, the kinds whose records prevent its deletion. */
const USERS: Partial<Record<Kind, readonly Kind[]>> = {
  group: COPIED_KINDS,
  role: ["roleBinding", "identityProvider", "externalGroupRoleMapping"],
};

/** The kind of each method. */
const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.values<Resource>(resources).flatMap(({ field, methods }) =>
    Object.keys(methods).map((name) => [name, field as Kind] as const),
  ),
);

// The mark that a store keeps of its copy, and the groups where an operator of a twin may do everything.

export interface CopyMark {
  /** identifies the copy: the source of its records, and the time of the read */
  source: string;
  /** uid of its first organization, or of the first group that could be seen */
  organization: string;
  /** uids of the groups that contain all records of the copy, none below another */
  tops: readonly string[];
  /** records beside the copy that exist, or may exist */
  unseen: Unseen;
}

const KEY = "copy";

/** Undefined for a store with its own records. */
export const copyMarkOf = (store: Store): CopyMark | undefined => {
  const text = store.meta(KEY);
  return text === undefined ? undefined : (JSON.parse(text) as CopyMark);
};

export const setCopyMark = (store: Store, mark: CopyMark): void => store.setMeta(KEY, JSON.stringify(mark));

/**
 * The groups where an operator of a twin may do everything: the copied ones. An operator that acts as no identity founds no organization.
 * It may also do everything in organizations that others found, so that a review sees each of them, regardless of its owner. `tops`: of
 * the copy. Returns uids, by the identity that the operator acts as; "": none.
 */
export const operatedIn = (store: Store, tops: readonly string[]): ((identity: string) => readonly string[]) => {
  const organizations = () =>
    store
      .statement("SELECT uid FROM groups WHERE parent IS NULL")
      .all()
      .map(({ uid }) => uid as string);
  const copied = new Set(organizations());
  return (identity) => (identity === "" ? [...tops, ...organizations().filter((uid) => !copied.has(uid))] : tops);
};
