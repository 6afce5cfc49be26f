// The identities as the token exchange reads them.
import type { Log } from "../base/log.ts";
import { passingFailure } from "../store/failure.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import type { Identities } from "../sts/index.ts";
import { identitiesWith, identityFrom } from "./identity.ts";

export const createIdentitySource = (store: Store, log: Log): Identities => ({
  get: (uid) => {
    const row = store.get(shapes.identity, uid);
    return row && identityFrom(row);
  },
  withExactClaims: (issuer, subject) => identitiesWith(store, issuer, subject),
  // Not the issuers of static keys: they need no discovery document, so no token may make the server ask for one.
  hasIssuer: (issuer) =>
    store
      .statement("SELECT 1 FROM identities WHERE issuer = ? AND relationship = 'RELATIONSHIP_TYPE_CLAIM_MATCH' LIMIT 1")
      .get(issuer) !== undefined,
  // A uid begins with the 40 digits of its organization.
  organizationsWith: (issuer) =>
    store
      .statement(
        `SELECT DISTINCT substr(uid, 1, 40) AS root FROM identities
         WHERE issuer = ? AND relationship = 'RELATIONSHIP_TYPE_CLAIM_MATCH'`,
      )
      .all(issuer)
      .map(({ root }) => root as string),
  seen: (uid, timeMs) => {
    try {
      const update = "UPDATE identities SET last_seen_time = ? WHERE uid = ?";
      store.transaction(() => store.statement(update).run(timeMs, uid));
    } catch (error) {
      // The time is for people to read: callers still get tokens when the disk is full.
      if (!passingFailure(error)) throw error;
      log("warn", "lastSeenTime was not written", { identity: uid, error: String(error) });
    }
  },
});
