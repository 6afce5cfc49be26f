// The records that a policy takes over by their uids, from a file beside it: `irm export --format yaml` writes it. A name may then be
// that of several records, and another name than the record has so far.
import { readFileSync } from "node:fs";
import { type Policy, ROOT } from "../../access/policy/index.ts";
import { listAll } from "../../client/paginate.ts";
import { isUidp, type Json, printable } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Kind } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import type { PolicyMatch } from "./policy-match.ts";
import type { ListClient } from "./policy-people.ts";
import { programError } from "./session.ts";

/** uid of each record, by path of a group or by key. */
export type PolicyUids = Readonly<Record<(typeof SECTIONS)[number], ReadonlyMap<string, string>>>;

const SECTIONS = ["groups", "identities", "roles"] as const;

/** Throws one error with every problem. */
export const readPolicyUids = (name: string, file: string): PolicyUids => {
  const fail = (...problems: string[]) =>
    programError([`AccessPolicy ${name}: adopt: ${file}:`, ...problems].join("\n  - "));
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw fail(printable((error as Error).message));
  }
  if (!isMap(value)) throw fail(`must be { ${SECTIONS.join(", ")} }, each with uids by key`);
  const problems = Object.keys(value)
    .filter((key) => !(SECTIONS as readonly string[]).includes(key))
    .map((key) => `${printable(key)}: there is no such section; there are ${SECTIONS.join(", ")}`);
  const sections = SECTIONS.map((section) => {
    const uids = value[section] ?? {};
    if (!isMap(uids)) problems.push(`${section}: must be uids by key`);
    const entries = isMap(uids) ? Object.entries(uids) : [];
    for (const [key, uid] of entries) if (!isUidp(uid)) problems.push(`${section}.${printable(key)}: must be a uid`);
    return [section, new Map(entries)] as const;
  });
  if (problems.length > 0) throw fail(...problems);
  return Object.fromEntries(sections) as unknown as PolicyUids;
};

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The records with these uids. One that the caller cannot list is taken over all the same, without a line about its changes. What the
 * policy does not declare, and what its stack has already, is left alone.
 */
export const policyMatchByUid = (policy: Policy, uids: PolicyUids, client: Promise<ListClient>): PolicyMatch => {
  const { group, identity, role } = kindRecords;
  const organization = uids.groups.get(ROOT) ?? policy.organization.uid;
  const listed = new Map<string, Promise<Map<string, Json>>>();
  const find = async (kind: Kind, uid: string | undefined): Promise<Json | undefined> => {
    if (uid === undefined) return undefined;
    const records = listed.get(kind.type) ?? client.then((listClient) => recordsOf(listClient, kind, organization));
    listed.set(kind.type, records);
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
