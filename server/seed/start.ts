// The records of a server at its start: built-in roles, the identity that anyone may assume, the records of the seed or of the copy,
// and with `--dev` an owner.
import { type Json, OWNER_CAPABILITIES, type RoleBundles } from "../../schema/index.ts";
import type { IdSource } from "../services/context.ts";
import { timeText } from "../services/record.ts";
import { enumNames, OWNER_ROLE } from "../services/role.ts";
import { insertFounding, insertOwner } from "../services/role-binding.ts";
import { shapes } from "../store/shape.ts";
import type { Store } from "../store/store.ts";
import { applySeed, type SeedContext } from "./apply.ts";
import { applyCopy } from "./apply-copy.ts";
import type { CopySeed } from "./copy.ts";
import { type Seed, SeedError } from "./record.ts";
import { ensureRoles } from "./roles.ts";
import { type CopyMark, copyMarkOf } from "./unseen.ts";

/** uid of the identity that anyone may assume (docs/internals/contract.md#d22). */
export const ANYONE = "0a11000000000000000000000000000000000001";

/** `sub` of the development issuer's tokens that may assume the owner. */
export const OWNER_SUBJECT = "owner";

interface StartRecords {
  /** uid of the organization of the seed or the copy; with `--dev` and neither, of the development one */
  organization?: string | undefined;
  /** uid of the owner, with `--dev` */
  identity?: string | undefined;
}

/** `roles`: the built-in ones (default: the table). Throws SeedError. A store that already contains the records is left unchanged. */
export const ensureRecords = (
  seed: Seed | CopySeed | undefined,
  context: SeedContext,
  roles?: RoleBundles,
): StartRecords => {
  const { store, ids, now, identityRules } = context;
  const { devIssuer } = identityRules;
  if (seed && "records" in seed) applyCopy(seed, context);
  const copy = copyMarkOf(store);
  const anyone = { name: "anyone", description: "Assumable with any token of an issuer that this server knows" };
  if (!store.get(shapes.identity, ANYONE)) insertIdentity(store, ANYONE, anyone, now);
  if (copy) {
    if (roles) throw new SeedError("a copy has the built-in roles of its service: leave out --roles");
    if (seed && !("records" in seed))
      throw new SeedError("the database has a copy, which takes no other seed: name another file with --db");
    ensureCopyOwnerRole(store, ids, now);
    return devIssuer ? ensureCopyOwner(store, ids, devIssuer, now, copy) : { organization: copy.organization };
  }
  ensureRoles(store, roles, now);
  const organization = seed && applySeed(seed as Seed, context);
  return devIssuer ? ensureDevOrganization(store, ids, devIssuer, now, organization) : { organization };
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
      insertGroup(store, organization, { name: "dev", description: "Development organization" }, now);
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

const insertGroup = (store: Store, uid: string, body: Json, now: number) =>
  store.insert(shapes.group, { uid, createTime: now, updateTime: now, body });

const insertIdentity = (store: Store, uid: string, identity: Json, now: number) => {
  const body = { ...identity, lastSeenTime: timeText(now) };
  store.insert(shapes.identity, { uid, createTime: now, updateTime: now, body });
};

const insertDevOwner = (store: Store, uid: string, issuer: string, now: number) => {
  const claimMatch = { issuer, subject: OWNER_SUBJECT };
  insertIdentity(store, uid, { name: "owner", description: "Development owner", claimMatch }, now);
};

const findRecorded = (store: Store, key: string, shape: typeof shapes.group) => {
  const uid = store.meta(key);
  return uid && store.get(shape, uid) ? uid : undefined;
};

// Identities that trust the development issuer keep doing so when its address changes. `only`: uid of the one that does.
const moveDevIssuer = (store: Store, issuer: string, only = "") => {
  const before = store.meta("dev_issuer");
  if (before && before !== issuer) {
    store
      .statement(
        `UPDATE identities SET body = json_replace(body, '$.claimMatch.issuer', ?)
         WHERE issuer = ? AND body ->> '$.claimMatch.issuer' = ? AND ? IN ('', uid)`,
      )
      .run(issuer, before, before, only);
  }
  store.setMeta("dev_issuer", issuer);
};

// The owner of a server with a copy is in its own organization, where no one is granted anything. So no list shows that organization, its
// identity, its role or its bindings: lists show only copied records. No experiment on the copy can lock the owner out.

/** uid of the role: an owner's capabilities and those of all copied roles, so that the owner may grant and change each role. */
const ensureCopyOwnerRole = (store: Store, ids: IdSource, now: number) =>
  store.transaction(() => {
    const known = store.meta(OWNER_ROLE);
    if (known !== undefined) return known;
    const group = ids.root();
    const uid = `${group}/${ids.segment()}`;
    insertGroup(store, group, { name: "local", description: "Of this server alone" }, now);
    const copied = store
      .statement("SELECT DISTINCT item.value AS capability FROM roles, json_each(roles.body, '$.capabilities') AS item")
      .all()
      .map(({ capability }) => capability);
    const capabilities = [...new Set([...enumNames(OWNER_CAPABILITIES), ...copied])];
    const body = { name: "owner", description: "Owner of a copy", capabilities };
    store.insert(shapes.role, { uid, createTime: now, updateTime: now, body });
    store.setMeta(OWNER_ROLE, uid);
    return uid;
  });

/** The owner of every copied group, whom tokens of the development issuer may assume. */
const ensureCopyOwner = (store: Store, ids: IdSource, issuer: string, now: number, { organization, tops }: CopyMark) =>
  store.transaction(() => {
    const roleUid = ensureCopyOwnerRole(store, ids, now);
    const group = roleUid.slice(0, roleUid.indexOf("/"));
    const known = findRecorded(store, "dev_identity", shapes.identity);
    const identity = known ?? `${group}/${ids.segment()}`;
    if (known === undefined) {
      insertDevOwner(store, identity, issuer, now);
      const body = { identityUid: identity, roleUid };
      for (const parent of tops)
        if (store.get(shapes.group, parent))
          insertFounding(store, { uid: `${group}/${ids.segment()}`, parent, body }, now);
    }
    store.setMeta("dev_identity", identity);
    // The other identities keep the trust of their originals.
    moveDevIssuer(store, issuer, identity);
    return { organization, identity };
  });
