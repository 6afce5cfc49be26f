// Families of refresh tokens: one row of hashes for each, however often it is used. Deleting an identity deletes them.

import type { Store } from "../store/store.ts";
import type { RefreshFamilies, RefreshFamily, RefreshGrant } from "../sts/index.ts";

/** For one identity. The family that would expire first makes room. */
const MAX_FAMILIES = 100;

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
    return row && familyFrom(row);
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
  ...(limits.capabilities && { capabilities: [...limits.capabilities] }),
  ...(limits.scopes && { scopes: limits.scopes }),
});

const familyFrom = (row: Record<string, unknown>): RefreshFamily => {
  const { capabilities, scopes, ...grant } = JSON.parse(row.body as string) as ReturnType<typeof bodyOf>;
  return {
    id: row.id as string,
    tokenHash: row.token_hash as string,
    identity: row.identity_uid as string,
    expireTimeMs: row.expire_time as number,
    grant: {
      ...grant,
      limits: { ...(capabilities && { capabilities: new Set(capabilities) }), ...(scopes && { scopes }) },
    },
  };
};
