// The existing records of a policy: those with its names in its groups. One list of each kind finds them while the program runs, so that
// the preview shows which records are adopted and which are created.
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { NO_PEOPLE_YET } from "../../access/policy/check/access.ts";
import {
  mappingsOf,
  type Policy,
  type PolicyMapping,
  type PolicyOrganization,
  ROOT,
} from "../../access/policy/policy.ts";
import { type PolicyUids, parseUids } from "../../access/policy/uids.ts";
import type { Client } from "../../client/client.ts";
import { type Listed, listAll, listChildren } from "../../client/records.ts";
import { bulleted, getOrInsert, type Json, parentOf, printable, suggestion } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { type Kind, pluralOf } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import type { IdentityProvider } from "./generated/identity-provider.ts";
import { withPlanned } from "./inputs.ts";
import { hasEngine, programError } from "./session.ts";

/** The record of each part of a policy; undefined if there is none. */
export interface PolicyMatch {
  /** by path; `/` is the organization */
  group(path: string): Promise<Json | undefined>;
  /** by key */
  identity(key: string): Promise<Json | undefined>;
  /** by key */
  role(key: string): Promise<Json | undefined>;
  mapping(one: PolicyMapping): Promise<Json | undefined>;
}

/** `name` is the component's. If several records match, every look-up fails with the same error. */
export const policyMatch = (
  name: string,
  policy: Policy,
  client: Promise<ListClient>,
  listProviders: ListProviders,
): PolicyMatch => {
  const matches = client.then((listClient) => findMatches(name, policy, listClient, listProviders));
  matches.catch(() => undefined);
  return {
    group: async (path) => (await matches).groups.get(path),
    identity: async (key) => (await matches).identities.get(key),
    role: async (key) => (await matches).roles.get(key),
    mapping: async (one) => (await matches).mappings.get(mappingKey(one)),
  };
};

const findMatches = async (name: string, policy: Policy, client: ListClient, listProviders: ListProviders) => {
  const problems: string[] = [];
  const onlyOne = (kind: Kind, records: readonly Listed[], path: string) => {
    const [first, ...others] = records;
    if (others.length === 0) return first;
    const lines = records.map(({ uid }) => `\n    - ${uid}`).join("");
    problems.push(`${path}: ${records.length} ${pluralOf(kind.word)} have this name in its group${lines}`);
    return undefined;
  };

  const { group, identity, role, externalGroupRoleMapping } = kindRecords;
  const organization = onlyOne(group, await organizationsOf(client, policy.organization), "organization");
  const listBelow = async (kind: Kind) => {
    if (organization === undefined) return [];
    const records = await Array.fromAsync(listAll(client, kind.list, { uidp: { descendantsOf: organization.uid } }));
    return records.map((record) => observe(kind, record) as Listed);
  };
  const byPlace = async (kind: Kind) =>
    Map.groupBy(await listBelow(kind), ({ uid, name }) => JSON.stringify([parentOf(uid), name]));
  const [ofGroup, ofIdentity, ofRole] = await Promise.all([byPlace(group), byPlace(identity), byPlace(role)]);

  const groups = new Map<string, Listed>(organization && [[ROOT, organization]]);
  const find = (kind: Kind, records: ReadonlyMap<string, Listed[]>, place: string, own: string, path: string) =>
    onlyOne(kind, records.get(JSON.stringify([groups.get(place)?.uid, own])) ?? [], path);
  for (const { path, parent, name: own } of policy.groups.values()) {
    const found = find(group, ofGroup, parent, own, `groups ${path}`);
    if (found) groups.set(path, found);
  }
  const findAll = (
    kind: Kind,
    records: ReadonlyMap<string, Listed[]>,
    declared: ReadonlyMap<string, { group: string; name: string }>,
    section: string,
  ) =>
    new Map(
      [...declared].flatMap(([key, { group: place, name: own }]) => {
        const found = find(kind, records, place, own, `${section}.${key}`);
        return found ? [[key, found] as const] : [];
      }),
    );
  const identities = findAll(identity, ofIdentity, policy.identities, "identities");
  const roles = findAll(role, ofRole, policy.roles, "roles");
  if (problems.length > 0) {
    const head = `AccessPolicy ${name}: adopt: it is not clear which records to adopt; rename or delete the others:`;
    throw programError(bulleted(head, ...problems));
  }

  const wanted = mappingsOf(policy);
  if (organization === undefined || wanted.length === 0) return { groups, identities, roles, mappings: new Map() };
  const providers = new Map((await listProviders(organization.uid)).map((one) => [one.uid, one.name]));
  const builtIn = new Map<unknown, string>();
  for await (const one of listChildren(client, role.list, "")) builtIn.set(one.name, one.uid);
  const mappings = new Map(
    (await listBelow(externalGroupRoleMapping)).map((one) => [
      mappingKey({
        provider: providers.get(parentOf(one.uid)),
        externalGroupId: one.externalGroupId,
        role: one.roleUid,
      }),
      one,
    ]),
  );
  const mappingOf = (one: PolicyMapping) => {
    const uid = policy.roles.has(one.role) ? roles.get(one.role)?.uid : builtIn.get(one.role);
    return mappings.get(mappingKey({ ...one, role: uid }));
  };
  return { groups, identities, roles, mappings: new Map(wanted.map((one) => [mappingKey(one), mappingOf(one)])) };
};

const mappingKey = ({ provider, externalGroupId, role }: { [Name in keyof PolicyMapping]: unknown }) =>
  JSON.stringify([provider, externalGroupId, role]);

const organizationsOf = async (client: ListClient, { uid, name }: PolicyOrganization) => {
  if (uid !== undefined) return [{ uid }];
  const { group } = kindRecords;
  const records = await Array.fromAsync(listChildren(client, group.list, "", { name: name as string }));
  // A service that ignores the filter must not decide which record is adopted.
  return records.filter((record) => record.name === name).map((record) => observe(group, record) as Listed);
};

// The records that a policy adopts by their uids, from a file beside it (access/policy/uids.ts).

/** Throws one error with every problem. */
export const readPolicyUids = (name: string, file: string): PolicyUids => {
  const fail = (...problems: string[]) => programError(bulleted(`AccessPolicy ${name}: adopt: ${file}:`, ...problems));
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw fail(printable((error as Error).message));
  }
  const { uids, problems } = parseUids(text);
  if (uids === undefined) throw fail(...problems);
  return uids;
};

/**
 * The records with these uids. A record that the caller cannot list is adopted anyway, without a line about its changes. Records that the
 * policy does not declare, or that its stack already has, are ignored.
 */
export const policyMatchByUid = (
  policy: Policy,
  uids: Omit<PolicyUids, "resources">,
  client: Promise<ListClient>,
): PolicyMatch => {
  const { group, identity, role } = kindRecords;
  const organization = uids.groups.get(ROOT) ?? policy.organization.uid;
  const listed = new Map<string, Promise<Map<string, Json>>>();
  const find = async (kind: Kind, uid: string | undefined) => {
    if (uid === undefined) return undefined;
    const records = getOrInsert(listed, kind.type, () =>
      client.then((listClient) => recordsOf(listClient, kind, organization)),
    );
    return (await records).get(uid) ?? { uid };
  };
  return {
    group: (path) => find(group, uids.groups.get(path)),
    identity: (key) => find(identity, uids.identities.get(key)),
    role: (key) => find(role, uids.roles.get(key)),
    mapping: async () => undefined,
  };
};

const recordsOf = async (
  client: ListClient,
  kind: Kind,
  organization: string | undefined,
): Promise<Map<string, Json>> => {
  const found = new Map<string, Json>();
  if (organization === undefined) return found;
  const filters = [{ descendantsOf: organization }, ...(kind.type === "Group" ? [{ ids: [organization] }] : [])];
  for (const uidp of filters)
    for await (const record of listAll(client, kind.list, { uidp })) found.set(record.uid, observe(kind, record));
  return found;
};

// The identity providers that a policy names under `people`. The policy does not create them. Each is looked up by its name in the
// organization while the program runs. So a preview shows misspelt names, and the provider whose people get a role.

/** The client members that read lists of the API. */
export type ListClient = Pick<Client, "call" | "clock">;

/** Identity providers by name, each a resource of the program or a uid. */
type GivenProviders = Readonly<Record<string, IdentityProvider | pulumi.Input<string>>>;

/** Finds an identity provider by its name. */
export type FindProvider = (provider: string) => IdentityProvider | pulumi.Input<string>;

interface Named {
  uid: string;
  name: string;
}

/** The identity providers of the organization itself: a policy may name only these. */
type ListProviders = (organization: string) => Promise<readonly Named[]>;

/** All look-ups in an organization share one list. */
export const providersListedBy = (client: () => Promise<ListClient>): ListProviders => {
  const listed = new Map<string, Promise<readonly Named[]>>();
  const list = async (organization: string) =>
    Array.fromAsync(listChildren<Named>(await client(), kindRecords.identityProvider.list, organization));
  return (organization) => getOrInsert(listed, organization, () => list(organization));
};

/** Finds an identity provider by name, in `given` or in the organization. */
export const policyProviders = (
  name: string,
  organization: pulumi.Input<string>,
  listProviders: ListProviders,
  given: GivenProviders = {},
): FindProvider => {
  const findIn = async (uid: unknown, provider: string): Promise<string> => {
    const head = `AccessPolicy ${name}: people.${provider}:`;
    if (pulumi.isUnknown(uid)) throw programError(`${head} ${NO_PEOPLE_YET}`);
    const all = await listProviders(uid as string);
    const [found, ...others] = all.filter((one) => one.name === provider);
    if (found && others.length === 0) return found.uid;
    if (found === undefined) {
      const near = suggestion(
        provider,
        all.map((one) => one.name),
      );
      throw programError(
        `${head} the organization ${uid} has no identity provider of this name${near || "; create it first, or give it in identityProviders"}`,
      );
    }
    const uids = [found, ...others].map((one) => `\n  - ${one.uid}`).join("");
    throw programError(
      `${head} ${others.length + 1} identity providers have this name; give one of them in identityProviders:${uids}`,
    );
  };
  const found = new Map<string, IdentityProvider | pulumi.Input<string>>();
  return (provider) =>
    getOrInsert(found, provider, () => {
      // A unit test of a program has no service.
      const own = given[provider] ?? (hasEngine() ? undefined : provider);
      return own ?? (withPlanned(pulumi.output(organization), (uid) => findIn(uid, provider)) as pulumi.Output<string>);
    });
};

/** Throws if one is given that the policy does not name. */
export const checkGivenProviders = (name: string, { people }: Policy, given: GivenProviders = {}): void => {
  const problems = Object.keys(given)
    .filter((provider) => !people.has(provider))
    .map((provider) => `identityProviders.${provider}: people does not name it${suggestion(provider, people.keys())}`);
  if (problems.length > 0) throw programError(bulleted(`AccessPolicy ${name}:`, ...problems));
};
