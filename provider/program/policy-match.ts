// What exists of a policy: the records with its names in its groups. They are found in one list of each kind while the program runs,
// so that the preview shows what is adopted and what is created.
import {
  mappingsOf,
  type Policy,
  type PolicyMapping,
  type PolicyOrganization,
  ROOT,
} from "../../access/policy/index.ts";
import type { Client } from "../../client/client.ts";
import { listAll, listChildren } from "../../client/paginate.ts";
import { type Json, parentOf } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { type Kind, pluralOf } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import { programError, programSession } from "./session.ts";

/** What reads the lists of the API. */
export type ListClient = Pick<Client, "call" | "clock">;

type Found = Json & { uid: string };

/** The record of each part of a policy; undefined where there is none. */
export interface PolicyMatch {
  /** by path; `/` is the organization */
  group(path: string): Promise<Json | undefined>;
  /** by key */
  identity(key: string): Promise<Json | undefined>;
  /** by key */
  role(key: string): Promise<Json | undefined>;
  mapping(one: PolicyMapping): Promise<Json | undefined>;
}

/** `name` is the component's. Where several records match, every look-up fails with the same error. */
export const policyMatch = (
  name: string,
  policy: Policy,
  client: Promise<ListClient> = programSession(),
): PolicyMatch => {
  const matches = client.then((own) => findMatches(name, policy, own));
  matches.catch(() => undefined);
  return {
    group: async (path) => (await matches).groups.get(path),
    identity: async (key) => (await matches).identities.get(key),
    role: async (key) => (await matches).roles.get(key),
    mapping: async (one) => (await matches).mappings.get(textOf(one)),
  };
};

const findMatches = async (name: string, policy: Policy, client: ListClient) => {
  const problems: string[] = [];
  const onlyOne = (kind: Kind, records: readonly Found[], path: string): Found | undefined => {
    const [first, ...others] = records;
    if (others.length === 0) return first;
    const lines = records.map(({ uid }) => `\n    - ${uid}`).join("");
    problems.push(`${path}: ${records.length} ${pluralOf(kind.word)} have this name in its group${lines}`);
    return undefined;
  };

  const { group, identity, role } = kindRecords;
  const organization = onlyOne(group, await organizationsOf(client, policy.organization), "organization");
  const groups = new Map<string, Found>(organization && [[ROOT, organization]]);
  const below = (kind: Kind) => recordsBelow(client, kind, organization?.uid);
  const [ofGroup, ofIdentity, ofRole] = await Promise.all([below(group), below(identity), below(role)]);

  for (const { path, parent, name: own } of policy.groups.values()) {
    const found = onlyOne(group, ofGroup(groups.get(parent), own), `groups ${path}`);
    if (found) groups.set(path, found);
  }
  const matching = (kind: Kind, records: ReadonlyMap<string, PolicyRecord>, named: NamedRecords, section: string) =>
    new Map(
      [...records].flatMap(([key, { group: path, name: own }]) => {
        const found = onlyOne(kind, named(groups.get(path), own), `${section}.${key}`);
        return found ? [[key, found] as const] : [];
      }),
    );
  const identities = matching(identity, policy.identities, ofIdentity, "identities");
  const roles = matching(role, policy.roles, ofRole, "roles");
  if (problems.length === 0)
    return { groups, identities, roles, mappings: await mappingsIn(client, policy, organization?.uid, roles) };
  const head = `AccessPolicy ${name}: adopt: it is not clear which records to adopt; rename or delete the others:`;
  throw programError([head, ...problems].join("\n  - "));
};

const textOf = ({ provider, externalGroupId, role }: PolicyMapping): string =>
  JSON.stringify([provider, externalGroupId, role]);

/** Of the identity providers of the organization itself, as the policy names them. */
const mappingsIn = async (
  client: ListClient,
  policy: Policy,
  organization: string | undefined,
  own: ReadonlyMap<string, Found>,
): Promise<ReadonlyMap<string, Json>> => {
  const wanted = mappingsOf(policy);
  if (organization === undefined || wanted.length === 0) return new Map();
  const { identityProvider, externalGroupRoleMapping, role } = kindRecords;
  const providers = new Map<string, unknown>();
  for await (const { uid, name } of listChildren(client, identityProvider.list, organization)) providers.set(uid, name);
  const builtIn = new Map<unknown, string>();
  for await (const { uid, name } of listChildren(client, role.list, "")) builtIn.set(name, uid);
  const found = new Map<string, Json>();
  for await (const one of listAll(client, externalGroupRoleMapping.list, { uidp: { descendantsOf: organization } })) {
    const { externalGroupId, roleUid } = one;
    found.set(JSON.stringify([providers.get(parentOf(one.uid)), externalGroupId, roleUid]), one);
  }
  return new Map(
    wanted.flatMap((one) => {
      const uid = policy.roles.has(one.role) ? own.get(one.role)?.uid : builtIn.get(one.role);
      const record = found.get(JSON.stringify([one.provider, one.externalGroupId, uid]));
      return record ? [[textOf(one), observe(externalGroupRoleMapping, record)] as const] : [];
    }),
  );
};

interface PolicyRecord {
  group: string;
  name: string;
}

const organizationsOf = async (client: ListClient, { uid, name }: PolicyOrganization): Promise<Found[]> => {
  if (uid !== undefined) return [{ uid }];
  const found: Found[] = [];
  // A service that ignores the filter must not decide which record is adopted.
  for await (const record of listChildren(client, kindRecords.group.list, "", { name: name as string }))
    if (record.name === name) found.push(observe(kindRecords.group, record) as Found);
  return found;
};

/** The records of that name directly in that group. */
type NamedRecords = (group: Found | undefined, name: string) => readonly Found[];

const recordsBelow = async (client: ListClient, kind: Kind, organization?: string): Promise<NamedRecords> => {
  const found = new Map<string, Found[]>();
  if (organization === undefined) return () => [];
  for await (const record of listAll(client, kind.list, { uidp: { descendantsOf: organization } })) {
    const key = JSON.stringify([parentOf(record.uid), record.name]);
    found.set(key, [...(found.get(key) ?? []), observe(kind, record) as Found]);
  }
  return (group, name) => (group && found.get(JSON.stringify([group.uid, name]))) ?? [];
};
