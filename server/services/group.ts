// Groups: the hierarchy. The caller who creates a root group becomes its owner in the same transaction.
import {
  ApiError,
  failedPrecondition,
  GROUP_LEVELS_MAX,
  type Group,
  invalidArgument,
  isRoot,
  isUidp,
  levelOf,
  notFound,
  resources,
  rootOf,
} from "../../schema/index.ts";
import { demand, scopesWith } from "../caller/caller.ts";
import { equals, listRows } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext, ServiceMethods } from "./context.ts";
import { permissionDenied, recordFrom, recordsOf, uidIn } from "./record.ts";
import { insertOwner } from "./role-binding.ts";

// kind and status belong to the organization; the groups below inherit them (docs/internals/contract.md#groups).
export const groupFrom = (row: Row, store: Store): Group => {
  const root = isRoot(row.uid) ? row : store.get(shapes.group, rootOf(row.uid));
  const { kind, status } = (root?.body ?? {}) as Partial<Group>;
  return { resourceLimits: {}, ...recordFrom<Omit<Group, "resourceLimits">>(row), kind, status };
};

const records = recordsOf("group", groupFrom);

export const groupService = {
  GetGroup: records.get,

  ListGroups: records.list(({ name }) => equals({ name })),

  CreateGroup: ({ parent, group }, context) => {
    const above = parent ? parentGroup(context, parent) : undefined;
    if (above) demand(context.caller, ["groups.create"], above);
    else demandFounder(context);
    const input = records.input(context, group, resources.group.violations(group, above));
    if (above && context.original) for (const name of ["kind", "status"] as const) delete input[name];
    const { isOperator } = context.caller;
    if (input.verified && !isOperator) throw permissionDenied("verified is set by the operator of the service");
    if (above) records.row(context, above);
    if (above && levelOf(above) >= GROUP_LEVELS_MAX)
      throw invalidArgument([{ field: "parent", description: `is ${GROUP_LEVELS_MAX} levels below its organization` }]);
    const uid = above || context.original ? uidIn(context, above ?? "") : context.ids.root();
    const created = records.insert(context, uid, input);
    if (!above && !isOperator) insertOwner(context.store, uidIn(context, uid), context.caller.uid, context.now);
    return created;
  },

  UpdateGroup: ({ group, updateMask }, context) => {
    const { row, next, paths } = records.change(context, group, updateMask);
    const before = row.body as Partial<Group>;
    if (next.verified && !before.verified) throw permissionDenied("verified is set by the operator of the service");
    // The name was verified: LookupGroup finds the organization of a domain by it.
    if (next.verified && next.name !== before.name)
      throw permissionDenied("the name of a verified group is set by the operator of the service");
    // `*` also requests to write kind and status (docs/internals/contract.md#d17); a subgroup's kind is its root's.
    if (paths.includes("*") && !next.kind) next.kind = before.kind;
    if (next.kind !== before.kind && (paths.includes("*") || !isRoot(row.uid)))
      throw invalidArgument([
        { field: "kind", description: "cannot be changed by this request; name it in updateMask on a root group" },
      ]);
    const { resourceLimits, status } = before;
    return records.update(context, row.uid, { ...next, resourceLimits, status });
  },

  DeleteGroup: ({ uid }, context) => {
    records.row(context, uid);
    const children = CHILDREN.filter(({ sql }) => context.store.statement(sql).get(uid));
    const violations = children.map(({ words }) => ({
      type: "RESOURCE_NOT_EMPTY",
      description: `cannot delete group with child ${words}`,
    }));
    if (violations.length > 0) throw failedPrecondition(violations);
    context.store.statement("DELETE FROM role_bindings WHERE parent = ? AND founding = 1").run(uid);
    return records.deleteIfThere({ uid }, context);
  },
} satisfies ServiceMethods;

// The founder gets every capability in a new organization, which lies in no scope. A limited token has fewer.
const demandFounder = ({ caller, identityRules }: ServiceContext) => {
  if (caller.operates && caller.uid === "")
    throw permissionDenied(
      "the creator of an organization owns it, and that identity is not known: give --as, with its uid",
    );
  // Otherwise anyone would own it.
  if (caller.uid === identityRules.anyone)
    throw permissionDenied(
      "the identity that anyone may assume cannot own an organization; assume an identity of your own",
    );
  if (caller.capabilities || caller.scopes)
    throw permissionDenied(
      "a token that was narrowed cannot create an organization; exchange again without cap and scopes",
    );
};

// The parent of a new group may also be a suffix of a uid, or the name of one group in scope (docs/internals/contract.md#values).
const parentGroup = (context: ServiceContext, parent: string): string => {
  if (isUidp(parent)) return parent;
  const readable = { scopes: scopesWith(context.caller, ["groups.list"]) };
  const suffix = isUidp(`${"0".repeat(40)}/${parent}`);
  const filter = suffix ? { sql: "uid LIKE ?", values: [`%/${parent}`] } : { sql: "name = ?", values: [parent] };
  const { rows } = listRows(context.store, context.tokens, shapes.group, { pageSize: 2 }, [filter], readable);
  if (rows.length === 1) return (rows[0] as Row).uid;
  const description =
    rows.length === 0
      ? "is not a uid, and no group in scope has that name"
      : "is the name of several groups; use the uid";
  throw invalidArgument([{ field: "parent", description }]);
};

// One violation for each kind of child (docs/internals/contract.md#d7). The binding of the founder is deleted with the organization.
const CHILDREN = Object.values(resources)
  .filter(({ parent }) => parent === "Group")
  .map(({ field, words, list }) => {
    const founding = field === "roleBinding" ? " AND founding = 0" : "";
    return {
      words,
      sql: `SELECT 1 FROM ${shapes[field as keyof typeof shapes].table} WHERE ${list.sharesUid ? "uid" : "parent"} = ?${founding} LIMIT 1`,
    };
  });

// LookupGroup: the verified organization named like the e-mail domain of the caller (docs/internals/contract.md#lookup-group). Every
// refusal has the same words, so that no caller can find out which organizations exist.

// They verify an address before they put it into a token. With `--dev`, so does the development issuer.
const ISSUERS = ["https://accounts.google.com", "https://auth.chainguard.dev/"];

// Anyone can have an address there, so it does not show where its holder belongs.
const PUBLIC_DOMAINS = [
  "aol.com",
  "gmail.com",
  "gmx.com",
  "googlemail.com",
  "hotmail.com",
  "icloud.com",
  "live.com",
  "mail.com",
  "outlook.com",
  "proton.me",
  "protonmail.com",
  "yahoo.com",
];

export const lookupGroupService = {
  LookupGroup: (_, context) => {
    const domain = domainOf(context);
    const [only, ...others] = domain ? verifiedRoots(context.store, domain) : [];
    if (only && others.length === 0) return { group: groupFrom(only, context.store) };
    const { details } = notFound("Group", "");
    throw new ApiError("NOT_FOUND", "Not found: there is no group for the e-mail domain of the caller", { details });
  },
} satisfies ServiceMethods;

const domainOf = ({ caller, identityRules }: ServiceContext) => {
  const { actorIssuer = "", email = "", emailVerified } = caller.token();
  if (!emailVerified || (!ISSUERS.includes(actorIssuer) && actorIssuer !== identityRules.devIssuer)) return undefined;
  const at = email.lastIndexOf("@");
  if (at < 1) return undefined;
  const domain = email.slice(at + 1).toLowerCase();
  return PUBLIC_DOMAINS.includes(domain) ? undefined : domain;
};

const verifiedRoots = (store: Store, name: string) =>
  store
    .statement("SELECT uid FROM groups WHERE parent IS NULL AND name = ?")
    .all(name)
    .map(({ uid }) => store.get(shapes.group, uid as string) as Row)
    .filter(({ body }) => body.verified);
