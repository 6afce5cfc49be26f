// Writes a seed into the store, in one transaction. A record that is there already (same parent, same name) is left as it
// is, so that a server with `--db` and `--seed` can be started again.
import { AccountAssociation, Advisory, IdentityProvider, isUidp, type Json, Repo, Tag } from "../../schema/index.ts";
import { insertAccountAssociation } from "../services/account-association.ts";
import { type AdvisoryInput, insertAdvisory } from "../services/advisory.ts";
import { builtInRoleUid } from "../services/built-in-role.ts";
import type { IdSource } from "../services/context.ts";
import { insertGroup } from "../services/group.ts";
import { insertIdentity } from "../services/identity.ts";
import { insertIdentityProvider } from "../services/identity-provider.ts";
import { insertRepo } from "../services/repo.ts";
import { insertRole } from "../services/role.ts";
import { insertRoleBinding } from "../services/role-binding.ts";
import { tagUid, upsertTag } from "../services/tag.ts";
import { accountAssociations, roles } from "../store/shape.ts";
import type { Shape, Store } from "../store/store.ts";
import { SeedError } from "./file.ts";
import { DEV_ISSUER_WORD, identityInput, roleInput, type Seed, seedPath, seedRecord } from "./record.ts";

/** @returns uid of the organisation */
export const applySeed = (
  store: Store,
  ids: IdSource,
  seed: Seed,
  devIssuer: string | undefined,
  now: number,
): string =>
  store.transaction(() => {
    if (!devIssuer && seed.identities.some(({ claimMatch }) => claimMatch?.issuer === DEV_ISSUER_WORD))
      throw new SeedError(`issuer ${DEV_ISSUER_WORD} stands for the development issuer: start the server with --dev`);

    const named = (table: Shape["table"], parent: string | null, name: string): string | undefined =>
      store.statement(`SELECT uid FROM ${table} WHERE parent IS ? AND name = ? LIMIT 1`).get(parent, name)?.uid as
        | string
        | undefined;
    const ensure = (table: Shape["table"], parent: string, name: string, insert: (uid: string) => void): string => {
      const present = named(table, parent, name);
      if (present) return present;
      const uid = `${parent}/${ids.segment()}`;
      insert(uid);
      return uid;
    };

    const ensureAdvisory = (advisory: Json, origin: string | undefined): void => {
      const parent = groupUid(advisory.group as string);
      const present = store
        .statement("SELECT 1 FROM advisories WHERE parent = ? AND advisory_id = ?")
        .get(parent, advisory.advisoryId as string);
      if (present) return;
      const uid = `${parent}/${ids.segment()}`;
      const input = seedRecord(Advisory, advisory) as unknown as AdvisoryInput;
      const events = input.events?.map((event) => ({
        ...event,
        uid: `${uid}/${ids.segment()}`,
        createTime: event.createTime ?? input.createTime ?? new Date(now).toISOString(),
      }));
      insertAdvisory(store, uid, { ...input, events, ...(origin && { origin }) }, now);
    };

    const organization = named("groups", null, seed.organization.name) ?? ids.root();
    if (!named("groups", null, seed.organization.name))
      insertGroup(store, organization, seed.organization as never, now);
    const groupUids = new Map([["", organization]]);
    // Parents before children, whatever their order in the file.
    for (const { parent, ...group } of seed.groups.toSorted((a, b) => depth(a) - depth(b))) {
      const uid = ensure("groups", groupUids.get(parent) as string, group.name, (own) =>
        insertGroup(store, own, group, now),
      );
      groupUids.set(seedPath(parent, group.name), uid);
    }
    const groupUid = (path: string) => groupUids.get(path) as string;
    const roleUids = new Map(
      seed.roles.map((role) => {
        const uid = ensure("roles", groupUid(role.group), role.name, (own) =>
          insertRole(store, own, roleInput(role), now),
        );
        return [seedPath(role.group, role.name), uid];
      }),
    );
    const identityUids = new Map(
      seed.identities.map((identity) => {
        const input = identityInput(identity, devIssuer);
        const uid = ensure("identities", groupUid(identity.group), identity.name, (own) =>
          insertIdentity(store, own, input, now),
        );
        return [seedPath(identity.group, identity.name), uid];
      }),
    );
    for (const provider of seed.identityProviders ?? []) {
      const defaultRole = roleUid(store, roleUids, provider.defaultRole);
      ensure("identity_providers", groupUid(provider.group), provider.name, (own) =>
        insertIdentityProvider(store, own, { ...seedRecord(IdentityProvider, provider), defaultRole }, now),
      );
    }
    for (const association of seed.accountAssociations ?? []) {
      const uid = groupUid(association.group);
      if (store.get(accountAssociations, uid)) continue;
      insertAccountAssociation(store, uid, seedRecord(AccountAssociation, association), now);
    }
    for (const { tags = [], readme, ...repo } of seed.repos) {
      const uid = ensure("repos", groupUid(repo.group), repo.name, (own) =>
        insertRepo(store, own, seedRecord(Repo, repo), now, readme),
      );
      for (const tag of tags) {
        if (tagUid(store, uid, tag.name)) continue;
        upsertTag(store, `${uid}/${ids.segment()}`, seedRecord(Tag, tag), now);
      }
    }
    for (const { origin, ...advisory } of seed.advisories ?? []) ensureAdvisory(advisory, origin);
    for (const binding of seed.bindings) {
      const link = {
        identityUid: identityUids.get(binding.identity) as string,
        roleUid: roleUid(store, roleUids, binding.role),
      };
      const present = store
        .statement("SELECT 1 FROM role_bindings WHERE parent = ? AND identity_uid = ? AND role_uid = ?")
        .get(groupUid(binding.group), link.identityUid, link.roleUid);
      if (!present) insertRoleBinding(store, `${groupUid(binding.group)}/${ids.segment()}`, link, now);
    }
    return organization;
  });

const depth = ({ parent }: Seed["groups"][number]): number => (parent === "" ? 0 : parent.split("/").length);

const roleUid = (store: Store, own: ReadonlyMap<string, string>, text: string): string => {
  const uid = own.get(text) ?? (isUidp(text) ? text : builtInRoleUid(text));
  if (!store.get(roles, uid))
    throw new SeedError(`there is no role ${JSON.stringify(text)}: neither in the seed file nor built in`);
  return uid;
};
