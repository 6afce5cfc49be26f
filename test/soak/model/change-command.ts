// Commands on single records: create, batch, get, update, delete.
import {
  adoptFounding,
  expectBatch,
  expectCreate,
  expectDelete,
  expectGet,
  expectUpdate,
  isStranger,
} from "./change.ts";
import { body, command, path, pick, present, snakeOf } from "./command.ts";
import { checkAnswer } from "./expectation.ts";
import { expectList } from "./list.ts";
import { can, isUnderOrSelf, type Json, type Kind, type Oracle, type Row, rowsOf } from "./oracle.ts";
import type { Real } from "./real.ts";
import type { LinkRef, Ref } from "./value.ts";

export const createGroup = command<{ root: boolean; parent: Ref; fields: Json }>("createGroup", (oracle, params) => {
  const caller = oracle.callers[params.caller] as string;
  const parent = params.root ? undefined : pick(oracle, "groups", params.parent);
  const fields = present(params.fields);
  const expectation = expectCreate(oracle, caller, "groups", parent, fields);
  const target = path(params, "groups", parent && `/${parent}`);
  const request = { method: "POST", target, body: body(fields, params) };
  if (parent !== undefined) return { request, expectation };
  let made = "";
  const accept = (answer: Json) => {
    made = answer.uid as string;
    return expectation.accept(answer);
  };
  const after = async (real: Real) => {
    if (!made) return;
    const query = { group: made };
    const list = await real.send(params.caller, { method: "GET", target: path(params, "roleBindings"), query });
    const [founding, ...others] = list.json.roleBindings as Json[];
    if (!founding || others.length > 0) throw new Error(`a new root group has not one binding: ${list.text}`);
    const owner = rowsOf(oracle, "roles").find((row) => row.parent === undefined && row.fields.name === "owner") as Row;
    adoptFounding(oracle, made, founding.uid as string, caller, owner.uid);
    checkAnswer(list, expectList(oracle, caller, "roleBindings", query));
  };
  return { request, expectation: { ...expectation, accept }, after };
});

export const createIn = (kind: Kind) =>
  command<{ parent: Ref; fields: Json }>(`create ${kind}`, (oracle, params) => {
    const parent = pick(oracle, "groups", params.parent);
    const fields = present(params.fields);
    const expectation = expectCreate(oracle, oracle.callers[params.caller] as string, kind, parent, fields);
    return {
      request: { method: "POST", target: path(params, kind, `/${parent}`), body: body(fields, params) },
      expectation,
    };
  });

// Every other role is taken from where it may be bound.
const linkOf = (
  oracle: Oracle,
  { identity, role, toReader }: LinkRef,
  group: string,
): Record<string, string | undefined> => ({
  identityUid: toReader ? oracle.callers[1] : pick(oracle, "identities", identity),
  roleUid: pick(oracle, "roles", role, ({ parent = group }) => role.n % 2 === 0 || isUnderOrSelf(parent, group)),
});

export const createBinding = command<{ parent: Ref; link: LinkRef; without: string | undefined }>(
  "createRoleBinding",
  (oracle, params) => {
    const caller = oracle.callers[params.caller] as string;
    const parent = pick(oracle, "groups", params.parent);
    const link = linkOf(oracle, params.link, parent);
    if (isStranger(oracle, caller, parent, link.identityUid)) return undefined;
    if (params.without) delete link[params.without];
    const request = { method: "POST", target: path(params, "roleBindings", `/${parent}`), body: body(link, params) };
    return { request, expectation: expectCreate(oracle, caller, "roleBindings", parent, link) };
  },
);

export const createBatch = command<{ parent: Ref; role: Ref; shared: boolean; links: LinkRef[] }>(
  "batchCreateRoleBindings",
  (oracle, params) => {
    const caller = oracle.callers[params.caller] as string;
    const parent = pick(oracle, "groups", params.parent);
    const roleUid = pick(oracle, "roles", params.role);
    const links = params.links.map((link) => Object.assign(linkOf(oracle, link, parent), params.shared && { roleUid }));
    if (links.some(({ identityUid }) => isStranger(oracle, caller, parent, identityUid))) return undefined;
    const requests = links.map(({ identityUid, roleUid: own }) => ({
      roleBinding: { identityUid, ...(!params.shared && { roleUid: own }) },
    }));
    const message = { parent, requests, ...(params.shared && { roleUid }) };
    const target = path(params, "roleBindings", ":batchCreate");
    const request = { method: "POST", target, body: body(message, params) };
    return { request, expectation: expectBatch(oracle, caller, parent, links) };
  },
);

export const get = command<{ kind: Kind; record: Ref }>("get", (oracle, params) => {
  const uid = pick(oracle, params.kind, params.record);
  const expectation = expectGet(oracle, oracle.callers[params.caller] as string, params.kind, uid);
  return { request: { method: "GET", target: path(params, params.kind, `/${uid}`) }, expectation };
});

/** There are many built-in roles, and none can be changed. */
const mostlyOwn =
  ({ n }: Ref) =>
  (row: Row) =>
    n % 10 === 0 || row.kind !== "roles" || row.parent !== undefined;

/** Without these no caller could call any more, or the oracle would not know which may. */
const isFixed = (oracle: Oracle, uid: string) =>
  oracle.callers.includes(uid) || oracle.rows.get(uid)?.founding === true;

export const remove = command<{ kind: Kind; record: Ref }>("delete", (oracle, params) => {
  const uid = pick(oracle, params.kind, params.record, mostlyOwn(params.record));
  if (isFixed(oracle, uid)) return undefined;
  const expectation = expectDelete(oracle, oracle.callers[params.caller] as string, params.kind, uid);
  return { request: { method: "DELETE", target: path(params, params.kind, `/${uid}`) }, expectation };
});

export interface UpdateParams {
  kind: Kind;
  record: Ref;
  link: LinkRef;
  fields: Json;
  keys: string[];
  mask: "none" | "keys" | "others" | "*" | "claimMatch.subject";
  extra: "" | "createTime" | "colour";
}

const FIELDS: Record<Kind, readonly string[]> = {
  groups: ["name", "description"],
  identities: ["name", "description", "relationship"],
  roles: ["name", "description", "capabilities"],
  roleBindings: ["identityUid", "roleUid"],
};

export const update = command<UpdateParams>("update", (oracle, params) => {
  const { kind, fields, keys, mask, extra } = params;
  const caller = oracle.callers[params.caller] as string;
  const uid = pick(oracle, kind, params.record, mostlyOwn(params.record));
  if (isFixed(oracle, uid)) return undefined;
  const row = oracle.rows.get(uid);

  const all: Json = { ...fields, ...(kind === "roleBindings" && linkOf(oracle, params.link, row?.parent ?? uid)) };
  const wanted = FIELDS[kind].filter((key) => keys.includes(key));
  const change = present(Object.fromEntries(wanted.flatMap((key) => entriesOf(all, key))));
  const nested = mask === "claimMatch.subject";
  // A path into a message that is not there means different things to different servers.
  if (nested && !(kind === "identities" && row?.fields.claimMatch)) return undefined;
  const named = wanted.flatMap((key) => (key === "relationship" ? RELATIONSHIPS(change) : [key]));
  const others = FIELDS[kind].filter((key) => !keys.includes(key) && key !== "relationship");
  const paths = nested ? [mask] : mask === "*" ? ["*"] : mask === "others" ? others : named;
  if (paths.length === 0) return undefined;
  if (mask === "none" && (Object.keys(change).length === 0 || paths.some((path) => !(path in change))))
    return undefined;
  if (kind === "roleBindings" && isStranger(oracle, caller, row?.parent ?? uid, change.identityUid)) return undefined;
  // Whether the capabilities that a role had before are needed too is not specified.
  const before = (row?.fields.capabilities as string[]) ?? [];
  if (kind === "roles" && row?.parent && !can(oracle, caller, before, row.parent)) return undefined;

  const written = [...paths, ...(extra && mask !== "*" ? [extra] : [])];
  const updateMask = written.map((text) => (params.snake ? text.split(".").map(snakeOf).join(".") : text)).join(",");
  const query = mask === "none" ? {} : { [params.snake ? "update_mask" : "updateMask"]: updateMask };
  const unknown = extra === "colour" && mask !== "none" && mask !== "*";
  return {
    request: { method: "PATCH", target: path(params, kind, `/${uid}`), query, body: body(change, params) },
    expectation: expectUpdate(oracle, caller, kind, uid, change, { paths, unknown }),
  };
});

const entriesOf = (all: Json, key: string): [string, unknown][] =>
  key === "relationship" ? Object.entries(all.relationship as Json) : [[key, all[key]]];

const RELATIONSHIPS = (change: Json) => ["claimMatch", "servicePrincipal"].filter((member) => member in change);
