// The records that there should be, by docs/internals/contract.md. It shares no line with the server.
export type Kind = "groups" | "identities" | "roles" | "roleBindings";
export type Json = Record<string, unknown>;

export const KINDS: readonly Kind[] = ["groups", "identities", "roles", "roleBindings"];

/** Capability of a verb on a kind (docs/internals/contract.md#capabilities). */
const WORDS: Record<Kind, string> = {
  groups: "GROUPS",
  identities: "IDENTITY",
  roles: "ROLES",
  roleBindings: "ROLE_BINDINGS",
};
export type Verb = "CREATE" | "UPDATE" | "LIST" | "DELETE";
export const capability = (kind: Kind, verb: Verb): string => `CAP_IAM_${WORDS[kind]}_${verb}`;

export interface Row {
  kind: Kind;
  uid: string;
  /** undefined: a root record */
  parent: string | undefined;
  createMs: number;
  updateMs: number;
  /** of an identity */
  seenMs?: number;
  /** the binding that made the creator owner of a root group */
  founding?: boolean;
  /** name, description and what else a caller gave */
  fields: Json;
}

/** A walk through the pages of a list that is not at its end. */
export interface Walk {
  kind: Kind;
  caller: string;
  query: Json;
  token: string;
  cursor: Row;
  total: number;
  issuedMs: number;
}

export interface Oracle {
  nowMs: number;
  rows: Map<string, Row>;
  gone: Row[];
  walks: Walk[];
  /** uids of the callers' identities, the owner first */
  callers: string[];
  organization: string;
  /** when the callers' tokens were exchanged */
  tokensMs: number;
}

export const UID = /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/;

export const isUnder = (group: string, uid: string): boolean => uid.startsWith(`${group}/`);
export const isUnderOrSelf = (group: string, uid: string): boolean => uid === group || isUnder(group, uid);
export const rootOf = (uid: string): string => uid.split("/")[0] as string;
export const parentOf = (uid: string): string | undefined =>
  uid.includes("/") ? uid.slice(0, uid.lastIndexOf("/")) : undefined;

export const rowsOf = (oracle: Oracle, kind: Kind): Row[] =>
  [...oracle.rows.values()].filter((row) => row.kind === kind);

export const rowOf = (oracle: Oracle, kind: Kind, uid: unknown): Row | undefined => {
  const row = oracle.rows.get(uid as string);
  return row?.kind === kind ? row : undefined;
};

export const capabilitiesOf = (role: Row | undefined): string[] => (role?.fields.capabilities as string[]) ?? [];

/** Bindings as they are now: a grant at a group covers it and everything below (docs/internals/contract.md#d28). */
export const can = (oracle: Oracle, caller: string, capabilities: readonly string[], uid: string): boolean => {
  const bindings = rowsOf(oracle, "roleBindings").filter(
    ({ fields, parent }) => fields.identityUid === caller && isUnderOrSelf(parent as string, uid),
  );
  const held = new Set(bindings.flatMap(({ fields }) => capabilitiesOf(rowOf(oracle, "roles", fields.roleUid))));
  return capabilities.every((name) => held.has(name));
};

/** Every caller reads the built-in roles; other records need the list capability. */
export const isReadable = (oracle: Oracle, caller: string, kind: Kind, uid: string): boolean =>
  (kind === "roles" && parentOf(uid) === undefined) || can(oracle, caller, [capability(kind, "LIST")], uid);

const timeText = (ms: number): string => new Date(ms).toISOString();

/** A record as a response has it (docs/internals/contract.md#d1). */
export const messageOf = (oracle: Oracle, row: Row): Json => {
  const { uid, fields, createMs, updateMs } = row;
  if (row.kind === "roleBindings") return bindingOf(oracle, row);
  const common = {
    uid,
    ...fields,
    description: fields.description ?? "",
    createTime: timeText(createMs),
    updateTime: timeText(updateMs),
  };
  if (row.kind === "groups") return { ...common, resourceLimits: {}, verified: false };
  if (row.kind === "identities") return { ...common, lastSeenTime: timeText(row.seenMs as number) };
  return common;
};

// Hydrated, without the uids beside (docs/internals/contract.md#role-bindings).
const bindingOf = (oracle: Oracle, { uid, parent, fields, createMs }: Row): Json => {
  const named = (row: Row | undefined) => {
    const { name, description = "" } = row?.fields ?? {};
    return { uid: row?.uid, name, description };
  };
  const identity = rowOf(oracle, "identities", fields.identityUid);
  const { issuer = "", subject = "" } = (identity?.fields.claimMatch ?? {}) as Record<string, string | undefined>;
  return {
    uid,
    identity: { ...named(identity), issuer, subject },
    group: named(rowOf(oracle, "groups", parent)),
    role: named(rowOf(oracle, "roles", fields.roleUid)),
    createTime: timeText(createMs),
  };
};

/** Takes a record out, and what goes with it (docs/internals/contract.md#d7, docs/internals/contract.md#d8). */
export const forget = (oracle: Oracle, row: Row): void => {
  for (const other of [row, ...followers(oracle, row)]) {
    oracle.rows.delete(other.uid);
    oracle.gone.push(other);
  }
};

const followers = (oracle: Oracle, { kind, uid }: Row): Row[] =>
  rowsOf(oracle, "roleBindings").filter(
    (binding) =>
      (kind === "identities" && binding.fields.identityUid === uid) ||
      (kind === "groups" && binding.founding && binding.parent === uid),
  );
