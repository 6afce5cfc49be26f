// Who holds what a revocation removes: an identity has a role by a role binding, and the people of an external group have one by a mapping.

import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/paginate.ts";
import { createRecord, isListable } from "../../client/records.ts";
import { type Json, parentOf, resources } from "../../schema/index.ts";
import type { HeldBinding } from "./held.ts";

const { externalGroupRoleMapping, roleBinding } = resources;

export interface Holder {
  /** of the identity, or of the identity provider */
  uid: string;
  name: string;
  /** as a sign-in names it; absent: an identity */
  externalGroup?: string | undefined;
}

/** For people: `release`, `external group SRE of acme-sso` */
export const labelOf = ({ name, externalGroup }: Holder): string =>
  externalGroup === undefined ? name : `external group ${externalGroup} of ${name}`;

/** A record that gives a role at a group. */
export interface Grant {
  uid: string;
  /** uid */
  group: string;
  /** uid */
  role: string;
}

type Caller = Pick<Client, "call" | "clock">;

/** The kind of the records that give the holder a role. */
export const kindOf = ({ externalGroup }: Holder): typeof roleBinding | typeof externalGroupRoleMapping =>
  externalGroup === undefined ? roleBinding : externalGroupRoleMapping;

/** What a holder has now. */
export const listGrants = async (client: Caller, { uid: holder, externalGroup }: Holder): Promise<Grant[]> => {
  const found: Grant[] = [];
  // A service that ignores the filter lists those of others too.
  if (externalGroup === undefined)
    for await (const record of listAll(client, roleBinding.list, { identity: holder })) {
      const { uid, ...parts } = record as { uid: string } & Record<"identity" | "group" | "role", { uid?: string }>;
      if (parts.identity?.uid === holder)
        found.push({ uid, group: parts.group?.uid ?? "", role: parts.role?.uid ?? "" });
    }
  else
    for await (const record of listAll(client, externalGroupRoleMapping.list, { identityProviderUid: holder })) {
      const { uid, externalGroupId, roleUid, scope } = record as Record<string, string> & { uid: string };
      if (parentOf(uid) === holder && externalGroupId === externalGroup)
        found.push({ uid, group: scope ?? "", role: roleUid ?? "" });
    }
  return found;
};

/** Gives the holder a role again. Throws where the caller could not see that it has the role. */
export const createGrant = async (client: Caller, holder: Holder, { group, role }: HeldBinding): Promise<Json> => {
  const { uid, externalGroup } = holder;
  const kind = kindOf(holder);
  const parent = externalGroup === undefined ? group : uid;
  if (!(await isListable(client, kind, parent))) {
    const right = externalGroup === undefined ? "role_bindings.list" : "identity_providers.list";
    const place = externalGroup === undefined ? "this group" : "this identity provider";
    throw new Error(`${kind.words} of ${place} cannot be listed, so it may exist: ${right} is needed at it`);
  }
  const body =
    externalGroup === undefined
      ? { identityUid: uid, roleUid: role }
      : { externalGroupId: externalGroup, roleUid: role, scope: group };
  return createRecord(client, kind, parent, body);
};
