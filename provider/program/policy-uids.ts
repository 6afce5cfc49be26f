// The records that a policy takes over by their uids, from a file beside it (access/policy/uids.ts).
import { readFileSync } from "node:fs";
import { type Policy, type PolicyUids, parseUids, ROOT } from "../../access/policy/index.ts";
import { listAll } from "../../client/paginate.ts";
import { getOrInsert, type Json, printable } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Kind } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import type { PolicyMatch } from "./policy-match.ts";
import type { ListClient } from "./policy-people.ts";
import { programError } from "./session.ts";

/** Throws one error with every problem. */
export const readPolicyUids = (name: string, file: string): PolicyUids => {
  const fail = (...problems: string[]) =>
    programError([`AccessPolicy ${name}: adopt: ${file}:`, ...problems].join("\n  - "));
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
 * The records with these uids. One that the caller cannot list is taken over all the same, without a line about its changes. What the
 * policy does not declare, and what its stack has already, is left alone.
 */
export const policyMatchByUid = (
  policy: Policy,
  uids: Omit<PolicyUids, "resources">,
  client: Promise<ListClient>,
): PolicyMatch => {
  const { group, identity, role } = kindRecords;
  const organization = uids.groups.get(ROOT) ?? policy.organization.uid;
  const listed = new Map<string, Promise<Map<string, Json>>>();
  const find = async (kind: Kind, uid: string | undefined): Promise<Json | undefined> => {
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
