// Role bindings: what grants access. The caller must hold what the bound role grants (docs/contract.md#d21).
import {
  alreadyExists,
  BATCH_MAX,
  type FieldViolation,
  inputViolations,
  invalidArgument,
  type Json,
  RoleBinding,
  rootOf,
} from "../../schema/index.ts";
import { can } from "../caller/authorize.ts";
import { equals } from "../store/list.ts";
import { groups, identities, roleBindings, roles } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext } from "./context.ts";
import { changeInput, createInput, existing, existingParent, page, throwIfAny, timeText } from "./record.ts";
import { demandRole, roleViolations } from "./role.ts";
import type { Services } from "./service.ts";

type Link = { identityUid: string; roleUid: string };

const linkOf = (row: Row): Link => ({
  identityUid: row.columns.identity_uid as string,
  roleUid: row.columns.role_uid as string,
});

// Hydrated as published: the uids are in the objects, not beside them (docs/contract.md#role-bindings).
const roleBindingFrom = (store: Store, row: Row) => {
  const { identityUid, roleUid } = linkOf(row);
  const identity = store.get(identities, identityUid);
  const { issuer, subject } = identity?.columns ?? {};
  return {
    uid: row.uid,
    identity: {
      ...named(identityUid, identity),
      subject: (subject as string) ?? undefined,
      issuer: (issuer as string) ?? undefined,
    },
    group: named(row.parent as string, store.get(groups, row.parent as string)),
    role: named(roleUid, store.get(roles, roleUid)),
    createTime: timeText(row.createTime),
  } as RoleBinding;
};

const named = (uid: string, row: Row | undefined) => ({
  uid,
  name: (row?.columns.name as string) ?? "",
  description: (row?.body.description as string) ?? "",
});

export const roleBindingService = {
  GetRoleBinding: ({ uid }, context) =>
    roleBindingFrom(context.store, existing(context, roleBindings, "RoleBinding", uid)),

  ListRoleBindings: (request, context) => {
    const filters = [
      ...equals("identity_uid", request.identity),
      ...equals("parent", request.group),
      ...equals("role_uid", request.role),
    ];
    return page(context, roleBindings, request, "roleBindings", filters, (row) => roleBindingFrom(context.store, row));
  },

  CreateRoleBinding: ({ parent, roleBinding }, context) => {
    const input = createInput(RoleBinding, roleBinding) as Link;
    existingParent(context, parent);
    throwIfAny(linkViolations(context, parent, input));
    demandRole(context, parent, input.roleUid);
    throwIfBound(context, parent, [input]);
    const uid = `${parent}/${context.ids.segment()}`;
    insertRoleBinding(context.store, uid, input, context.now);
    return roleBindingFrom(context.store, existing(context, roleBindings, "RoleBinding", uid));
  },

  // Atomic, in order, at most 25 (AIP-233, docs/contract.md#role-bindings).
  BatchCreateRoleBindings: ({ parent, requests = [], roleUid }, context) => {
    const size = requests.length;
    if (size === 0 || size > BATCH_MAX)
      throw invalidArgument([{ field: "requests", description: `must have 1 to ${BATCH_MAX} requests; got ${size}` }]);
    const inputs = requests.map(
      ({ roleBinding }) => ({ ...roleBinding, roleUid: roleBinding?.roleUid || roleUid }) as Json,
    );
    const violations = requests.flatMap((request, i) =>
      batchViolations(request, i, parent, roleUid, inputs[i] as Json),
    );
    throwIfAny(violations);
    existingParent(context, parent);
    throwIfAny(
      inputs.flatMap((input, i) =>
        prefixed(linkViolations(context, parent, input as Link), `requests[${i}].roleBinding.`),
      ),
    );
    for (const input of inputs) demandRole(context, parent, (input as Link).roleUid);
    throwIfBound(context, parent, inputs as Link[]);
    const uids = inputs.map(() => `${parent}/${context.ids.segment()}`);
    uids.forEach((uid, i) => {
      insertRoleBinding(context.store, uid, inputs[i] as Link, context.now);
    });
    return {
      roleBindings: uids.map((uid) =>
        roleBindingFrom(context.store, existing(context, roleBindings, "RoleBinding", uid)),
      ),
    };
  },

  UpdateRoleBinding: ({ roleBinding, updateMask }, context) => {
    const row = existing(context, roleBindings, "RoleBinding", roleBinding.uid);
    const group = row.parent as string;
    const { next } = changeInput(RoleBinding, linkOf(row), roleBinding, updateMask);
    const link = next as Link;
    throwIfAny(linkViolations(context, group, link));
    demandRole(context, group, link.roleUid);
    throwIfBound(context, group, [link], row.uid);
    context.store.update(roleBindings, {
      uid: row.uid,
      updateTime: context.now,
      columns: { identity_uid: link.identityUid, role_uid: link.roleUid, founding: row.columns.founding as number },
      body: {},
    });
    return roleBindingFrom(context.store, existing(context, roleBindings, "RoleBinding", row.uid));
  },

  // Idempotent: a missing one is success (docs/contract.md#d4).
  DeleteRoleBinding: ({ uid }, context) => {
    context.store.remove(roleBindings, uid);
    return {};
  },
} satisfies Services<
  | "GetRoleBinding"
  | "ListRoleBindings"
  | "CreateRoleBinding"
  | "BatchCreateRoleBindings"
  | "UpdateRoleBinding"
  | "DeleteRoleBinding"
>;

export const insertRoleBinding = (store: Store, uid: string, link: Link, now: number, founding = false): void =>
  store.insert(roleBindings, {
    uid,
    createTime: now,
    updateTime: now,
    columns: { identity_uid: link.identityUid, role_uid: link.roleUid, founding: founding ? 1 : 0 },
    body: {},
  });

// With `--unique-role-bindings` an identity has a role once in a group (docs/contract.md#d19). `own` is the binding that is
// changed; in a batch no binding has a uid yet.
const throwIfBound = (context: ServiceContext, group: string, links: Link[], own = ""): void => {
  if (!context.uniqueRoleBindings) return;
  const known = context.store.statement(
    "SELECT uid FROM role_bindings WHERE parent = ? AND identity_uid = ? AND role_uid = ? AND uid <> ? LIMIT 1",
  );
  links.forEach(({ identityUid, roleUid }, i) => {
    const bound = known.get(group, identityUid, roleUid, own);
    const first = links.findIndex((link) => link.identityUid === identityUid && link.roleUid === roleUid);
    if (!bound && first === i) return;
    const text = `identity ${identityUid} is bound to role ${roleUid} at ${group} already`;
    throw alreadyExists("RoleBinding", (bound?.uid as string | undefined) ?? "", text);
  });
};

const prefixed = (violations: readonly FieldViolation[], prefix: string): FieldViolation[] =>
  violations.map(({ field, description }) => ({ field: prefix + field, description }));

const batchViolations = (
  request: { parent?: string; roleBinding?: Partial<Link> },
  i: number,
  parent: string,
  roleUid: string | undefined,
  input: Json,
): FieldViolation[] => {
  const violations = prefixed(inputViolations(RoleBinding, input), `requests[${i}].roleBinding.`);
  if (request.parent && request.parent !== parent)
    violations.push({
      field: `requests[${i}].parent`,
      description: "must be empty or equal to the parent of the batch",
    });
  if (roleUid && request.roleBinding?.roleUid && request.roleBinding.roleUid !== roleUid)
    violations.push({
      field: `requests[${i}].roleBinding.roleUid`,
      description: "must be empty or equal to the roleUid of the batch",
    });
  return violations;
};

// An identity or role that the caller cannot see gets the same words as one that does not exist.
const linkViolations = (context: ServiceContext, group: string, { identityUid, roleUid }: Link): FieldViolation[] => {
  const violations: FieldViolation[] = [];
  const identity = context.store.get(identities, identityUid);
  const near =
    identityUid === context.caller.uid ||
    rootOf(identityUid) === rootOf(group) ||
    can(context.caller, ["identity.list"], identityUid);
  if (identityUid === context.identityRules.anyone)
    violations.push({
      field: "identityUid",
      description: "is the identity that anyone may assume, which holds no bindings",
    });
  else if (!identity || !near)
    violations.push({ field: "identityUid", description: `identity ${identityUid} does not exist` });
  return [...violations, ...roleViolations(context, group, roleUid, "roleUid")];
};
