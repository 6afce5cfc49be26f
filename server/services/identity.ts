// Identities: who may call. Deleting one deletes its bindings in the same transaction (docs/internals/contract.md#d8).
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import {
  type FieldViolation,
  type Identity,
  inputViolations,
  isLoopbackUrl,
  type Json,
  operations,
  rootOf,
  STATIC_KEYS_LIFE_MS,
  type StaticKeys,
} from "../../schema/index.ts";
import { can, grantsOf } from "../caller/caller.ts";
import { equals } from "../store/list.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import { issuerPatternWarning, jwksViolation } from "../sts/index.ts";
import type { IdentityRules, ServiceContext, ServiceMethods } from "./context.ts";
import { existing, newTimes, recordFrom, recordsOf, throwIfAny, timeText, uidIn } from "./record.ts";
import { demandHeld } from "./role.ts";

const records = recordsOf("identity");

export const identityService = {
  GetIdentity: records.get,

  ListIdentities: records.list(({ name, relationshipType: type }) =>
    equals({ name, relationship: type === NO_RELATIONSHIP ? undefined : type }),
  ),

  CreateIdentity: ({ parent, identity }, context) => {
    const { identityRules, now } = context;
    const violations = relationshipViolations(identity, identityRules, { now, createTime: now });
    // The published error for an empty body names only `name` (docs/internals/contract.md#sample-a): a missing relationship is reported
    // once the rest is valid.
    const input = records.input(context, identity, violations, (all) =>
      all.length > 1 ? all.filter(({ field }) => field !== "claimMatch") : all,
    );
    // A person whose identity is copied may be in no group.
    if (parent || !context.original) existing(context, "group", parent);
    const uid = uidIn(context, parent);
    const { createTime } = newTimes(context);
    if (!context.original) warnOfRelationship(context, uid, input);
    const lastSeenTime = input.lastSeenTime ?? timeText(createTime);
    return records.insert(context, uid, withExpiration({ ...input, lastSeenTime }, createTime));
  },

  UpdateIdentity: ({ identity, updateMask }, context) => {
    const { row, next } = records.change(context, identity, updateMask, (changed, { createTime }) =>
      relationshipViolations(changed, context.identityRules, { now: context.now, createTime }),
    );
    // A caller who decides who assumes an identity can assume it, so the caller must hold its grants
    // (docs/internals/contract.md#change-of-claims). Another organization that grants it something trusts its managers here.
    if (!isDeepStrictEqual(relationshipOf(next), relationshipOf(row.body)))
      for (const [group, capabilities] of grantsOf(context.store, row.uid))
        if (rootOf(group) === rootOf(row.uid)) demandHeld(context, capabilities, group);
    warnOfRelationship(context, row.uid, next);
    return records.update(context, row.uid, withExpiration(next, row.createTime));
  },

  DeleteIdentity: records.delete,

  // Deterministic, also for an unregistered workload. Only callers who may see a stored identity get its uid, so that no other
  // can find out which organizations trust a workload.
  LookupIdentity: ({ issuer, subject }, context) => {
    throwIfAny(inputViolations(operations.LookupIdentity.request, { issuer, subject }));
    const [only, ...others] = visibleIdentities(context, { issuer, subject });
    if (only && others.length === 0) return { uid: only.uid };
    return {
      uid: createHash("sha256")
        .update(JSON.stringify([issuer, subject]))
        .digest("hex")
        .slice(0, 40),
    };
  },
} satisfies ServiceMethods;

/**
 * Stores the issuer and subject that role bindings show for an identity whose own record names neither. It is a person, or an identity
 * that the reader of the copy could not see. No token is matched by them.
 */
export const showSignIn = (store: Store, uid: string, { issuer, subject }: Json): void =>
  void store
    .statement("UPDATE identities SET sign_in = ? WHERE uid = ? AND relationship = ?")
    .run(JSON.stringify({ issuer, subject }), uid, NO_RELATIONSHIP);

/** The identities of a workload that the caller may list. */
export const visibleIdentities = (
  { store, caller }: ServiceContext,
  { issuer, subject }: { issuer: string; subject: string },
): Identity[] => identitiesWith(store, issuer, subject).filter(({ uid }) => can(caller, ["identity.list"], uid));

/** Identities with exactly this issuer and subject, by claims or by keys. */
export const identitiesWith = (store: Store, issuer: string, subject: string): Identity[] =>
  store
    .statement("SELECT uid FROM identities WHERE issuer = ? AND subject = ?")
    .all(issuer, subject)
    .map(({ uid }) => recordFrom(store.get(shapes.identity, uid as string) as Row));

// The members of an identity that define who may assume it (store/schema.sql).
const RELATIONSHIPS = ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"] as const;

const NO_RELATIONSHIP = "RELATIONSHIP_TYPE_UNSPECIFIED";

const relationshipOf = (input: Json): Json => Object.fromEntries(RELATIONSHIPS.map((name) => [name, input[name]]));

const expirationOf = ({ expirationTime }: z.infer<typeof StaticKeys>, createTime: number) =>
  expirationTime ?? timeText(createTime + STATIC_KEYS_LIFE_MS);

const withExpiration = (identity: Identity, createTime: number) => {
  const { staticKeys } = identity;
  if (!staticKeys) return identity;
  return { ...identity, staticKeys: { ...staticKeys, expirationTime: expirationOf(staticKeys, createTime) } };
};

// Rules that the schema cannot express: the issuers that this server serves, and the lifetime of keys. `createTime`: of the identity.
const relationshipViolations = (
  identity: Json,
  rules: IdentityRules,
  { now, createTime }: { now: number; createTime: number },
) => {
  const { claimMatch, staticKeys } = identity as Partial<Identity>;
  const expires = staticKeys && Date.parse(expirationOf(staticKeys, createTime));
  const isInTime = expires === undefined || (expires > now && expires <= createTime + STATIC_KEYS_LIFE_MS);
  const description = "must be in the future, at most 365 days after creation";
  return [
    ...issuerViolations("claimMatch.issuer", claimMatch?.issuer, rules),
    ...issuerViolations("staticKeys.issuer", staticKeys?.issuer, rules),
    ...(isInTime ? [] : [{ field: "staticKeys.expirationTime", description }]),
  ];
};

// Stored nevertheless, as the published service stores any text.
const warnOfRelationship = ({ log }: ServiceContext, uid: string, identity: Json) => {
  const { claimMatch, staticKeys } = identity as Partial<Identity>;
  const issuerPattern = claimMatch?.issuerPattern;
  const doubt = issuerPattern && issuerPatternWarning(issuerPattern);
  if (doubt)
    log("warn", "an issuer pattern may match more than was meant", { identity: uid, issuerPattern, reason: doubt });
  const reason = staticKeys?.issuerKeys && jwksViolation(staticKeys.issuerKeys);
  if (reason) log("warn", "staticKeys.issuerKeys verify no token: exchanges are refused", { identity: uid, reason });
};

/** The problem of an issuer that this server would not ask, or that is its own. */
export const issuerViolations = (field: string, issuer: string | undefined, rules: IdentityRules): FieldViolation[] => {
  if (!issuer) return [];
  if (issuer === rules.ownIssuer) return [{ field, description: "must not be the issuer of this service" }];
  if (isLoopbackUrl(issuer) && !rules.loopback)
    return [{ field, description: "must not be on loopback; such an issuer is served with --dev only" }];
  return [];
};
