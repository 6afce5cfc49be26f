// The records that every server starts with: the identity that anyone may assume. With `--dev` also an organization, and an
// owner that tokens of the development issuer can assume.

import type { IdSource } from "../services/context.ts";
import { insertGroup } from "../services/group.ts";
import { insertIdentity } from "../services/identity.ts";
import { insertOwner } from "../services/role-binding.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";

/** uid of the identity that anyone may assume (docs/contract.md#d22). */
export const ANYONE = "0a11000000000000000000000000000000000001";

/** `sub` of the development issuer's tokens that may assume the owner. */
export const OWNER_SUBJECT = "owner";

export const ensureAnyone = (store: Store, now: number): void => {
  const input = { name: "anyone", description: "Assumable with any token of an issuer that this server knows" };
  if (!store.get(shapes.identity, ANYONE)) insertIdentity(store, ANYONE, input, timesAt(now));
};

/** The development organization and its owner, created once. Each start sets its issuer, since the port may differ. */
export const ensureDevOrganization = (
  store: Store,
  ids: IdSource,
  issuer: string,
  now: number,
  seeded: string | undefined,
): { organization: string; identity: string } =>
  store.transaction(() => {
    const organization = seeded ?? findRecorded(store, "dev_organization", shapes.group) ?? ids.root();
    if (!store.get(shapes.group, organization))
      insertGroup(store, organization, { name: "dev", description: "Development organization" }, timesAt(now));
    const identity = findRecorded(store, "dev_identity", shapes.identity) ?? `${organization}/${ids.segment()}`;
    if (!store.get(shapes.identity, identity)) {
      insertDevOwner(store, identity, issuer, now);
      insertOwner(store, `${organization}/${ids.segment()}`, identity, now);
    }
    store.setMeta("dev_organization", organization);
    store.setMeta("dev_identity", identity);
    moveDevIssuer(store, issuer);
    return { organization, identity };
  });

export const timesAt = (now: number) => ({ createTime: now, updateTime: now, lastSeenTime: now });

export const insertDevOwner = (store: Store, uid: string, issuer: string, now: number): void => {
  const claimMatch = { issuer, subject: OWNER_SUBJECT };
  insertIdentity(store, uid, { name: "owner", description: "Development owner", claimMatch }, timesAt(now));
};

export const findRecorded = (store: Store, key: string, shape: typeof shapes.group): string | undefined => {
  const uid = store.meta(key);
  return uid && store.get(shape, uid) ? uid : undefined;
};

// Identities that trust the development issuer keep doing so when its address changes. `only`: uid of the one that does.
export const moveDevIssuer = (store: Store, issuer: string, only = ""): void => {
  const before = store.meta("dev_issuer");
  if (before && before !== issuer) {
    store
      .statement(
        `UPDATE identities SET issuer = ?, body = json_replace(body, '$.claimMatch.issuer', ?)
         WHERE issuer = ? AND json_extract(body, '$.claimMatch.issuer') = ? AND ? IN ('', uid)`,
      )
      .run(issuer, issuer, before, before, only);
  }
  store.setMeta("dev_issuer", issuer);
};
