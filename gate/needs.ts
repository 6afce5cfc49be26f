// The capabilities that a write needs, and where: the ones of its method, and the ones that it gives to others, which the caller must hold
// (docs/internals/contract.md#d21). A role counts as the copy shows it and as the change writes it, so the capabilities suffice in any order.

import { methodOf } from "../access/change/methods.ts";
import type { Write } from "../access/change/write.ts";
import { type Copy, recordsIn } from "../access/copy/copy.ts";
import type { ExportKind } from "../access/export/read.ts";
import { groupOf } from "../access/graph/hidden.ts";
import { RELATIONSHIPS } from "../access/graph/live-record.ts";
import {
  capabilityFrom,
  capabilityName,
  isObject,
  isRoot,
  isUidp,
  type Json,
  type OperationName,
  operations,
  parentOf,
  resources,
  rootOf,
} from "../schema/index.ts";

/**
 * uid of an existing group, or the number of the write that creates the organization. Every record that a change creates is in one of them.
 */
type Place = string | number;

export interface Need {
  /** friendly names */
  capabilities: Set<string>;
  places: Set<Place>;
  /** why more may be needed, one sentence each */
  problems: string[];
}

interface Known {
  place: Place | undefined;
  /** of a mapping: its identity provider */
  parent: unknown;
  /** as in the copy or as created, then the fields that the change sets; the first one is empty if it is unknown */
  versions: Json[];
}

/** To pull from the source of a repo. */
const PULL = ["manifest.list", "repo.blobs.get"];

/** The needs of each of the writes; `writes` are all writes of one service. */
export const needsOf = (writes: readonly Write[], copy: Copy): Need[] => {
  const byNumber = new Map(writes.map((write) => [write.n, write]));
  const records = new Map<string, Known>();
  const bindings = new Map<unknown, Known[]>();
  const mappings = new Map<unknown, Known[]>();

  const placeOfUid = (kind: ExportKind, uid: unknown): Place | undefined => {
    if (isUidp(uid)) return groupOf(kind, uid) || undefined;
    const made = byNumber.get(keyOf(uid) as number);
    return made && placeOfWrite(made);
  };
  const placeOfWrite = ({ n, method, parent, uid }: Write): Place | undefined => {
    const { verb, resource } = methodOf(method);
    if (verb !== "create") return placeOfUid(resource.field as ExportKind, uid);
    return parent === undefined ? n : placeOfUid(PARENTS[resource.parent], parent);
  };

  for (const [plural, record] of recordsIn(copy)) {
    const kind = KIND_OF.get(plural) as ExportKind;
    const { uid } = record;
    records.set(`${kind} ${uid}`, { place: placeOfUid(kind, uid), parent: parentOf(uid), versions: [record] });
  }
  const recordOf = (write: Write): Known => {
    const { verb, resource } = methodOf(write.method);
    const key = `${resource.field} ${verb === "create" ? write.n : keyOf(write.uid)}`;
    const known = records.get(key) ?? { place: placeOfWrite(write), parent: write.parent, versions: [{}] };
    records.set(key, known);
    return known;
  };
  for (const write of writes) {
    const { verb } = methodOf(write.method);
    const { versions } = recordOf(write);
    if (verb === "create") versions[0] = write.fields;
    else versions.push(write.fields);
  }
  for (const [key, one] of records) {
    const add = (map: Map<unknown, Known[]>, of: unknown) => map.set(of, [...(map.get(of) ?? []), one]);
    if (key.startsWith("roleBinding ")) for (const uid of valuesOf(one, "identityUid")) add(bindings, uid);
    if (key.startsWith("externalGroupRoleMapping ")) add(mappings, keyOf(one.parent));
  }
  const needOf = (write: Write): Need => {
    const { n, method, fields, mask } = write;
    const need: Need = { capabilities: new Set(), places: new Set(), problems: [] };
    const unknown = (problem: string) => void need.problems.push(`write ${n} ${problem}`);
    const add = (capabilities: Iterable<string>, at: Place | undefined) => {
      for (const one of capabilities) need.capabilities.add(one);
      if (at === undefined) unknown("needs a capability at a record whose group is not known");
      else need.places.add(at);
    };
    const give = (role: Known | undefined, at: Place | undefined) => {
      if (!Array.isArray(role?.versions[0]?.capabilities))
        unknown("gives a role, and it is not known what that grants");
      const names = (role?.versions ?? []).flatMap(({ capabilities = [] }) => capabilities as unknown[]).map(String);
      const strange = names.find((name) => capabilityFrom(name) === undefined);
      if (strange !== undefined) unknown(`gives ${strange}, which this version does not know`);
      add(names.map(capabilityName), at);
    };
    const giveRoles = (roles: Iterable<unknown>, at: Place | undefined) => {
      for (const uid of roles) give(records.get(`role ${uid}`), at);
    };
    const own = recordOf(write);
    const at = own.place;
    /** The values of a field after the write. */
    const after = (name: string): Iterable<unknown> =>
      mask === undefined || mask.includes(name) ? [keyOf(fields[name])] : valuesOf(own, name);

    add(operations[method as OperationName].capabilities, at);
    switch (method) {
      case "CreateRole":
      case "UpdateRole":
        give(own, at);
        break;
      case "CreateRoleBinding":
      case "UpdateRoleBinding":
        giveRoles(after("roleUid"), at);
        // An identity of another organization must be visible.
        for (const uid of after("identityUid")) {
          if (typeof uid === "string" && isRoot(uid)) continue;
          const home = placeOfUid("identity", uid);
          if (home === undefined || at === undefined || organizationOf(home) !== organizationOf(at))
            add(["identity.list"], home);
        }
        break;
      case "CreateGroupInvite":
        giveRoles(after("roleUid"), at);
        break;
      case "CreateIdentityProvider":
        giveRoles(after("defaultRole"), at);
        break;
      case "UpdateIdentityProvider":
        giveRoles(after("defaultRole"), at);
        // A caller that moves a provider to another issuer may sign in as anyone in its groups.
        for (const one of mappings.get(keyOf(write.uid)) ?? [])
          giveRoles(valuesOf(one, "roleUid"), placeOfUid("group", one.versions[0]?.scope));
        break;
      case "CreateExternalGroupRoleMapping":
        add(["role_bindings.create"], placeOfUid("group", fields.scope));
        giveRoles(after("roleUid"), placeOfUid("group", fields.scope));
        break;
      case "UpdateIdentity":
        if (at === undefined || !mask?.some((path) => RELATIONSHIPS.includes(path.split(".")[0] as string))) break;
        // A caller that decides who signs in may sign in.
        for (const one of bindings.get(keyOf(write.uid)) ?? [])
          if (one.place === undefined || organizationOf(one.place) === organizationOf(at))
            giveRoles(valuesOf(one, "roleUid"), one.place);
        if (
          copy.copy.notVisible.some(
            ({ kind, group }) => kind === "roleBinding" && (group === "" || rootOf(group) === organizationOf(at)),
          )
        )
          unknown("changes who an identity is, and not all that it is granted is visible");
        break;
      case "CreateRepo":
      case "UpdateRepo": {
        const { source } = (fields.sync_config ?? {}) as Json;
        if (source !== undefined) add(PULL, placeOfUid("repo", source));
      }
    }
    return need;
  };
  return writes.map(needOf);
};

const PARENTS = { Group: "group", IdentityProvider: "identityProvider", Repo: "repo" } as const;

const KIND_OF: ReadonlyMap<string, string> = new Map(
  Object.values(resources).map(({ plural, field }) => [plural, field]),
);

/** A uid, or the number of the write that makes it; undefined for anything else. */
const keyOf = (text: unknown) => {
  if (typeof text === "string" || typeof text === "number") return text;
  return isObject(text) && typeof text.$uid === "number" ? text.$uid : undefined;
};

/** Every value of a field, before and after the writes. */
const valuesOf = ({ versions }: Known, name: string) =>
  new Set(versions.flatMap((one) => (one[name] === undefined ? [] : [keyOf(one[name])])));

const organizationOf = (place: Place): Place => (typeof place === "string" ? rootOf(place) : place);
