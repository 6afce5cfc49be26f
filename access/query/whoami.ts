// Who the caller is, and what it may do where. The API answers that for any valid token (docs/internals/contract.md#validate), even for a caller who
// may list nothing. If a service lacks that answer, the bindings and roles of the caller are listed, and unreadable ones are named.
import type { Caller, Client } from "../../client/client.ts";
import { apiErrorOf, apiText } from "../../client/errors.ts";
import { getRecord, isListable, listAll, listPage } from "../../client/records.ts";
import {
  capabilityName,
  isAncestorOrSelf,
  isObject,
  isUidp,
  type Json,
  parentOf,
  type ResponseOf,
  resources,
  rootOf,
} from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { worstFirst } from "../graph/danger.ts";
import { isRefused } from "../graph/hidden.ts";
import { type Listed, relationshipOf } from "../graph/live-record.ts";

type Reader = Pick<Client, "call" | "clock" | "caller">;

/** Access of the caller in a group and everywhere below. */
export interface OwnGrant {
  /** uid */
  group: string;
  /** name of the group, if it is known */
  groupName?: string | undefined;
  /** name; null: no known role grants exactly this, as for a token that was limited at its exchange */
  role: string | null;
  /** friendly names, sorted */
  capabilities: readonly string[];
}

export interface WhoAmI extends Caller {
  /** uid; null if neither the token nor the service shows it */
  identity: string | null;
  /** null if the caller cannot read it */
  name: string | null;
  /** when the API token ends, RFC 3339; null if it does not name an end */
  expires: string | null;
  grants: readonly OwnGrant[];
  /** unreadable parts of the grants, one sentence each */
  notKnown: readonly string[];
}

export const whoAmI = async (client: Reader): Promise<WhoAmI> => {
  const caller = await client.caller();
  const { claims } = caller;
  const shown = await orUndefined(client.call("Validate", {}));
  const identity = [claims.sub, shown?.subject].find(isUidp) ?? null;
  const record = identity === null ? undefined : await orUndefined(getRecord(client, IDENTITY, identity));
  const { grants, notKnown } = shown
    ? { grants: grantsIn(shown), notKnown: [] }
    : await listGrants(client, identity, record);
  return {
    ...caller,
    identity,
    name: identity === null ? null : await nameOf(client, identity, record),
    expires: shown?.expiry ?? timeOf(claims.exp),
    grants: worstFirst(withinScopes(grants, claims), ({ capabilities, group, role }) => ({
      capabilities: capabilities.length === 0 && notKnown.length > 0 ? "unknown" : capabilities,
      place: group,
      texts: [role],
    })),
    notKnown,
  };
};

/** Undefined if the service does not answer this caller, or not at all. Throws any other failure. */
const orUndefined = async <T>(answer: Promise<T>) => {
  try {
    return await answer;
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
};

const grantsIn = ({ capabilities = [] }: ResponseOf<"Validate">) =>
  capabilities.flatMap(({ group, role, capabilities: own = [] }) =>
    isUidp(group?.id)
      ? [
          {
            group: group.id,
            groupName: group.name,
            role: role ? (role.name ?? role.id ?? "") : null,
            capabilities: (role ? (role.capabilities ?? []) : own).map(capabilityName).sort(compare),
          },
        ]
      : [],
  );

/** How a grant is held, in words. */
export const throughText = ({ role }: Pick<OwnGrant, "role">): string => role ?? "the capabilities of its token";

/**
 * A token that was limited to scopes holds a role only inside them (docs/internals/contract.md#d28), while the service names the group of the
 * binding.
 */
const withinScopes = (grants: readonly OwnGrant[], { internal }: Caller["claims"]): OwnGrant[] => {
  const scopes = isObject(internal) && Array.isArray(internal.scopes) ? internal.scopes.filter(isUidp) : undefined;
  if (scopes === undefined) return [...grants];
  return grants.flatMap((grant) => {
    if (scopes.some((scope) => isAncestorOrSelf(scope, grant.group))) return [grant];
    const below = scopes.filter((scope) => isAncestorOrSelf(grant.group, scope));
    return below.map((group) => ({ ...grant, group, groupName: undefined }));
  });
};

const timeOf = (seconds: unknown) =>
  typeof seconds === "number" && Number.isFinite(new Date(seconds * 1000).getTime())
    ? new Date(seconds * 1000).toISOString()
    : null;

const { identity: IDENTITY, role: ROLE, roleBinding: BINDING } = resources;

/** A caller who may not read an identity may still see its name in a binding. */
const nameOf = async (client: Reader, identity: string, record: Json | undefined): Promise<string | null> => {
  if (typeof record?.name === "string") return record.name;
  const page = await orUndefined(listPage<Listed>(client, BINDING.list, { identity, pageSize: 1 }));
  const shown = page?.records[0]?.identity as Json | undefined;
  return shown?.uid === identity && typeof shown.name === "string" ? shown.name : null;
};

const listGrants = async (
  client: Reader,
  identity: string | null,
  record: Json | undefined,
): Promise<Pick<WhoAmI, "grants" | "notKnown">> => {
  if (identity === null)
    return { grants: [], notKnown: ["the token does not show its identity, and the service does not tell it"] };
  const bindings: Listed[] = [];
  try {
    // A service that ignores the filter must not decide what this identity holds.
    for await (const one of listAll<Listed>(client, BINDING.list, { identity }))
      if ((one.identity as Json | undefined)?.uid === identity) bindings.push(one);
  } catch (error) {
    const cause = apiErrorOf(error);
    if (!cause || !isRefused(error)) throw error;
    return { grants: [], notKnown: [`the role bindings cannot be listed: ${apiText(cause)}`] };
  }
  const notKnown: string[] = [];
  // No record of a person says who may assume it.
  if (record && relationshipOf(record) === null)
    notKnown.push("the roles of the external groups of this person, which role bindings need not show");
  const organization = rootOf(identity);
  if (!(await isListable(client, BINDING, organization)))
    notKnown.push(
      `role bindings in groups of ${organization} that cannot be listed: role_bindings.list is needed at the organization`,
    );
  const roles = new Map<string, Json | undefined>();
  const grants: OwnGrant[] = [];
  for (const { uid, role, group } of bindings) {
    const { uid: roleUid, name } = (role ?? {}) as Json;
    const { name: groupName } = (group ?? {}) as { name?: string };
    if (!isUidp(roleUid)) continue;
    if (!roles.has(roleUid)) roles.set(roleUid, await orUndefined(getRecord(client, ROLE, roleUid)));
    const found = roles.get(roleUid);
    const roleName = String(found?.name ?? name ?? roleUid);
    if (!found)
      notKnown.push(
        `the capabilities of role ${roleName} in ${parentOf(uid)}: roles.list is needed where it is defined`,
      );
    grants.push({
      group: parentOf(uid),
      groupName,
      role: roleName,
      capabilities: ((found?.capabilities ?? []) as string[]).map(capabilityName).sort(compare),
    });
  }
  return { grants, notKnown };
};
