// The records that Terraform manages, as the API has them now.
import { hasCode } from "../../../client/errors.ts";
import { forEachOf } from "../../../client/in-parallel.ts";
import { getRecord, partsOf } from "../../../client/records.ts";
import { isAncestorOrSelf, isUidp, parentOf, resources, rootOf } from "../../../schema/index.ts";
import { type Caller, groupOf, listVisible } from "../../graph/hidden.ts";
import type { Listed } from "../../graph/live-record.ts";
import {
  builtInRolesOf,
  type Contents,
  type ExportKind,
  KINDS,
  listGroups,
  namesOf,
  type OnRead,
  type Records,
} from "../read.ts";
import type { Instance, TerraformState } from "./state.ts";

/** A resource instance, and the outcome for its record. */
export interface Managed {
  instance: Instance;
  /** absent if no resource here corresponds to it, or it has no uid */
  record?: { kind: ExportKind; uid: string };
  /** it no longer exists */
  isGone: boolean;
  /** why Terraform keeps it; undefined: the program may declare it */
  why: string | undefined;
  /** fields that no resource here declares */
  notDeclared: readonly string[];
}

export interface ManagedContents {
  contents: Contents;
  managed: readonly Managed[];
}

/** Reads the records that the state names, in few requests. `isPolicy`: the organization is the top. */
export const readManaged = async (
  client: Caller,
  state: TerraformState,
  isPolicy: boolean,
  onRead: OnRead = () => {},
): Promise<ManagedContents> => {
  const known = state.instances.map((instance) => ({ instance, ...identify(instance) }));
  const groups = await listGroups(client);
  const found = new Map<string, Listed | Missing>();
  for (const kind of KINDS) {
    const uids = new Set(known.flatMap(({ record }) => (record?.kind === kind ? record.uid : [])));
    const listed = kind === "group" ? groups : await listByUid(client, kind, uids);
    for (const record of listed) if (uids.has(record.uid)) found.set(`${kind} ${record.uid}`, record);
    // A list never denies, so each record that no list contains is read (docs/internals/contract.md#authorization).
    const missing = [...uids].filter((uid) => !found.has(`${kind} ${uid}`));
    await forEachOf(missing, async (uid) => void found.set(`${kind} ${uid}`, await readOne(client, kind, uid)));
    onRead(kind, uids.size);
  }
  const managed = known.map((one) => outcomeOf(one, found));
  const records = Object.fromEntries(
    KINDS.map((kind) => [kind, recordsOf(kind, managed, found)]),
  ) as unknown as Records;
  const top = topOf(records);
  return {
    managed,
    contents: {
      top: isPolicy && top !== "" ? rootOf(top) : top,
      isPart: true,
      groupNames: namesOf(groups),
      builtInRoles: await builtInRolesOf(client, records),
      records,
      notVisible: [],
    },
  };
};

/** The kinds here that correspond to the provider's resources. */
const KIND_OF: Readonly<Record<string, ExportKind>> = {
  chainguard_group: "group",
  chainguard_identity: "identity",
  chainguard_rolebinding: "roleBinding",
  chainguard_role: "role",
  chainguard_identity_provider: "identityProvider",
  chainguard_group_invite: "groupInvite",
  chainguard_account_associations: "accountAssociation",
  chainguard_image_repo: "repo",
  chainguard_image_tag: "tag",
};

type Identified = Pick<Managed, "record"> & { why?: string };

const identify = ({ address, id, attributes, isDeposed }: Instance): Identified => {
  const kind = Object.hasOwn(KIND_OF, address.type) ? KIND_OF[address.type] : undefined;
  if (kind === undefined) return { why: "no resource of this package stands for it" };
  if (attributes === undefined) return { why: "its attributes cannot be read" };
  if (typeof id !== "string" || !isUidp(id)) return { why: "its id is not a uid" };
  const record = { kind, uid: id };
  if (isDeposed) return { record, why: "it is deposed: Terraform has replaced it and would delete it next" };
  return { record };
};

const listByUid = async (client: Caller, kind: ExportKind, uids: Iterable<string>) => {
  const lists = await Promise.all(partsOf(uids).map((ids) => listVisible(client, kind, { uidp: { ids } })));
  return lists.flatMap(({ records }) => records);
};

type Missing = "gone" | { why: string };

const readOne = async (client: Caller, kind: ExportKind, uid: string): Promise<Listed | Missing> => {
  try {
    return { ...(await getRecord(client, resources[kind], uid)), uid };
  } catch (error) {
    if (hasCode(error, "NOT_FOUND")) return "gone";
    if (hasCode(error, "PERMISSION_DENIED")) return { why: "you may not read it" };
    if (hasCode(error, "UNIMPLEMENTED")) return { why: `the service does not serve ${resources[kind].words}` };
    throw error;
  }
};

const outcomeOf = (
  { instance, record, why }: Identified & { instance: Instance },
  found: ReadonlyMap<string, Listed | Missing>,
): Managed => {
  const live = record && found.get(`${record.kind} ${record.uid}`);
  const own = typeof live === "object" && !("uid" in live) ? live.why : undefined;
  return {
    ...{ instance, isGone: live === "gone", why: why ?? own, ...(record && { record }) },
    notDeclared: record?.kind === "repo" && instance.attributes?.readme ? ["readme"] : [],
  };
};

const recordsOf = (
  kind: ExportKind,
  managed: readonly Managed[],
  found: ReadonlyMap<string, Listed | Missing>,
): Listed[] => {
  const uids = new Set(
    managed.flatMap(({ record, isGone, why }) =>
      record?.kind === kind && !isGone && why === undefined ? record.uid : [],
    ),
  );
  return [...uids].map((uid) => found.get(`${kind} ${uid}`) as Listed);
};

/** The innermost group that contains everything; empty if there is none. */
const topOf = (records: Records) => {
  const groups = KINDS.flatMap((kind) => records[kind].map(({ uid }) => groupOf(kind, uid)));
  let [top = ""] = groups;
  for (const group of groups) while (top !== "" && !isAncestorOrSelf(top, group)) top = parentOf(top);
  return top;
};
