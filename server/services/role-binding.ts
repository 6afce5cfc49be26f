// Role bindings grant access. The caller must hold the capabilities of the bound role (docs/internals/contract.md#d21).
import {
  alreadyExists,
  BATCH_MAX,
  type FieldViolation,
  inputViolations,
  invalidArgument,
  RoleBinding,
  rootOf,
} from "../../schema/index.ts";
import { can } from "../caller/caller.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { existing, recordsOf, throwIfAny, timeText, uidIn } from "./record.ts";
import { demandRole, founderRoleIn, roleViolations } from "./role.ts";

type Link = { identityUid: string; roleUid: string };

// Hydrated as published: the uids are in the objects, not beside them (docs/internals/contract.md#role-bindings).
const roleBindingFrom = (row: Row, store: Store) => {
  const { identityUid, roleUid } = row.body as Link;
  const identity = store.get(shapes.identity, identityUid);
  const { issuer, subject } = identity?.columns ?? {};
  return {
    uid: row.uid,
    identity: {
      ...summaryOf(identityUid, identity),
      subject: (subject as string) ?? undefined,
      issuer: (issuer as string) ?? undefined,
      email: identity?.body.email as string | undefined,
    },
    group: summaryOf(row.parent as string, store.get(shapes.group, row.parent as string)),
    role: summaryOf(roleUid, store.get(shapes.role, roleUid)),
    createTime: timeText(row.createTime),
  } as RoleBinding;
};

const summaryOf = (uid: string, row: Row | undefined) => ({
  uid,
  name: (row?.body.name as string) ?? "",
  description: (row?.body.description as string) ?? "",
});

const records = recordsOf("roleBinding", roleBindingFrom);

export const roleBindingService = {
  GetRoleBinding: records.get,

  ListRoleBindings: records.list(({ identity, group, role }) =>
    equals({ identity_uid: identity, parent: group, role_uid: role }),
  ),

  CreateRoleBinding: ({ parent, roleBinding }, context) => {
    const { identityUid, roleUid } = records.input(context, roleBinding) as Link;
    const link = { identityUid, roleUid };
    existing(context, "group", parent);
    throwIfAny(linkViolations(context, parent, link));
    demandRole(context, parent, roleUid);
    throwIfBound(context, parent, [link]);
    return records.insert(context, uidIn(context, parent), link);
  },

  // Atomic, in order, at most 25 (AIP-233, docs/internals/contract.md#role-bindings).
  BatchCreateRoleBindings: ({ parent, requests = [], roleUid }, context) => {
    const size = requests.length;
    if (size === 0 || size > BATCH_MAX)
      throw invalidArgument([{ field: "requests", description: `must have 1 to ${BATCH_MAX} requests; got ${size}` }]);
    const links = requests.map(
      ({ roleBinding }) => ({ ...roleBinding, roleUid: roleBinding?.roleUid || roleUid }) as Link,
    );
    throwIfAny(requests.flatMap((request, i) => batchViolations(request, i, parent, roleUid, links[i] as Link)));
    existing(context, "group", parent);
    throwIfAny(
      links.flatMap((link, i) => addPrefix(linkViolations(context, parent, link), `requests[${i}].roleBinding.`)),
    );
    for (const link of links) demandRole(context, parent, link.roleUid);
    throwIfBound(context, parent, links);
    return { roleBindings: links.map((link) => records.insert(context, uidIn(context, parent), link)) };
  },

  UpdateRoleBinding: ({ roleBinding, updateMask }, context) => {
    const { row, next } = records.change(context, roleBinding, updateMask);
    const group = row.parent as string;
    const link = next as Link;
    throwIfAny(linkViolations(context, group, link));
    demandRole(context, group, link.roleUid);
    throwIfBound(context, group, [link], row.uid);
    return records.update(context, row.uid, link);
  },

  DeleteRoleBinding: records.deleteIfThere,
} satisfies ServiceMethods;

/** Makes an identity the owner of a new organization. */
export const insertOwner = (store: Store, uid: string, identityUid: string, now: number): void =>
  insertFounding(store, { uid, body: { identityUid, roleUid: founderRoleIn(store) } }, now);

/** A binding that is deleted with its group, and does not block that deletion. No list shows one whose uid is not below that group. */
export const insertFounding = (store: Store, row: { uid: string; parent?: string; body: Link }, now: number): void =>
  store.insert(shapes.roleBinding, { ...row, createTime: now, updateTime: now }, { founding: 1 });

// With `--unique-role-bindings` an identity has a role at most once in a group (docs/internals/contract.md#d19). `changedUid`: the binding
// that an update changes; new bindings have no uid.
const throwIfBound = (context: ServiceContext, group: string, links: Link[], changedUid = "") => {
  if (!context.uniqueRoleBindings || context.original) return;
  const known = context.store.statement(
    "SELECT uid FROM role_bindings WHERE parent = ? AND identity_uid = ? AND role_uid = ? AND uid <> ? LIMIT 1",
  );
  links.forEach(({ identityUid, roleUid }, i) => {
    const bound = known.get(group, identityUid, roleUid, changedUid);
    const first = links.findIndex((link) => link.identityUid === identityUid && link.roleUid === roleUid);
    if (!bound && first === i) return;
    const text = `identity ${identityUid} is bound to role ${roleUid} at ${group} already`;
    throw alreadyExists("RoleBinding", (bound?.uid as string | undefined) ?? "", text);
  });
};

const addPrefix = (violations: readonly FieldViolation[], prefix: string): FieldViolation[] =>
  violations.map(({ field, description }) => ({ field: prefix + field, description }));

const batchViolations = (
  request: { parent?: string },
  i: number,
  parent: string,
  roleUid: string | undefined,
  link: Link,
): FieldViolation[] => {
  const violations = addPrefix(inputViolations(RoleBinding, link), `requests[${i}].roleBinding.`);
  if (request.parent && request.parent !== parent)
    violations.push({
      field: `requests[${i}].parent`,
      description: "must be empty or equal to the parent of the batch",
    });
  if (roleUid && link.roleUid !== roleUid)
    violations.push({
      field: `requests[${i}].roleBinding.roleUid`,
      description: "must be empty or equal to the roleUid of the batch",
    });
  return violations;
};

const ANYONE_TEXT = "is the identity that anyone may assume, which holds no bindings";

// An identity or role that the caller cannot see gets the same words as one that does not exist.
const linkViolations = (context: ServiceContext, group: string, { identityUid, roleUid }: Link): FieldViolation[] => {
  const violations: FieldViolation[] = [];
  const identity = context.store.get(shapes.identity, identityUid);
  const near =
    identityUid === context.caller.uid ||
    rootOf(identityUid) === rootOf(group) ||
    can(context.caller, ["identity.list"], identityUid);
  if (identityUid === context.identityRules.anyone) violations.push({ field: "identityUid", description: ANYONE_TEXT });
  else if (!identity || !near)
    violations.push({ field: "identityUid", description: `identity ${identityUid} does not exist` });
  return [...violations, ...roleViolations(context, group, roleUid, "roleUid")];
};
