// The records of the token service: it reads identities, and keeps families of refresh tokens.
import type { Identity } from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import { passingFailure } from "../store/failure.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import type { Identities, RefreshFamilies, RefreshGrant } from "../sts/index.ts";
import { identitiesWith } from "./identity.ts";
import { recordFrom, timeText } from "./record.ts";

/** The identities as the token exchange reads them. */
export const createIdentitySource = (store: Store, log: Log): Identities => ({
  get: (uid) => {
    const row = store.get(shapes.identity, uid);
    return row && recordFrom<Identity>(row);
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
      const update = "UPDATE identities SET body = json_set(body, '$.lastSeenTime', ?) WHERE uid = ?";
      store.transaction(() => store.statement(update).run(timeText(timeMs), uid));
    } catch (error) {
      // The time is for people to read: callers still get tokens when the disk is full.
      if (!passingFailure(error)) throw error;
      log("warn", "lastSeenTime was not written", { identity: uid, error: String(error) });
    }
  },
});

/** For one identity. The family that would expire first makes room. */
const MAX_FAMILIES = 100;

/** One row of hashes for each family, however often it is used. Deleting an identity deletes them. */
export const createRefreshFamilies = (store: Store, clock: () => number): RefreshFamilies => ({
  begin: ({ id, tokenHash, identity, expireTimeMs, grant }) =>
    store.transaction(() => {
      store.statement("DELETE FROM refresh_families WHERE expire_time <= ?").run(clock());
      store
        .statement(
          `DELETE FROM refresh_families WHERE id IN (
             SELECT id FROM refresh_families WHERE identity_uid = ? ORDER BY expire_time DESC, id LIMIT -1 OFFSET ?)`,
        )
        .run(identity, MAX_FAMILIES - 1);
      store
        .statement(
          "INSERT INTO refresh_families (id, token_hash, identity_uid, expire_time, body) VALUES (?, ?, ?, ?, ?)",
        )
        .run(id, tokenHash, identity, expireTimeMs, JSON.stringify(bodyOf(grant)));
    }),
  get: (id) => {
    const row = store.statement("SELECT * FROM refresh_families WHERE id = ?").get(id);
    if (!row) return undefined;
    const { capabilities, scopes, ...grant } = JSON.parse(row.body as string) as ReturnType<typeof bodyOf>;
    return {
      id: row.id as string,
      tokenHash: row.token_hash as string,
      identity: row.identity_uid as string,
      expireTimeMs: row.expire_time as number,
      grant: { ...grant, limits: { capabilities: capabilities && new Set(capabilities), scopes } },
    };
  },
  rotate: (id, from, to) => {
    const update = "UPDATE refresh_families SET token_hash = ? WHERE id = ? AND token_hash = ?";
    return store.transaction(() => store.statement(update).run(to, id, from).changes === 1);
  },
  end: (id) => {
    store.transaction(() => store.statement("DELETE FROM refresh_families WHERE id = ?").run(id));
  },
});

const bodyOf = ({ limits, ...grant }: RefreshGrant) => ({
  ...grant,
  scopes: limits.scopes,
  capabilities: limits.capabilities && [...limits.capabilities],
});
