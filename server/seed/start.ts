// The records that a server has when it starts: the built-in roles, the identity that anyone may assume, those of the seed or of the copy,
// and with `--dev` an owner.
import type { RoleBundles } from "../../schema/index.ts";
import { applySeed, type SeedContext } from "./apply.ts";
import { applyCopy } from "./apply-copy.ts";
import { ensureAnyone, ensureDevOrganization } from "./bootstrap.ts";
import type { CopySeed } from "./copy.ts";
import { copyMarkOf } from "./copy-mark.ts";
import { ensureCopyOwner, ensureCopyOwnerRole } from "./copy-owner.ts";
import { type Seed, SeedError } from "./record.ts";
import { ensureRoles } from "./roles.ts";

export interface StartRecords {
  /** uid of the organization of the seed or the copy; with `--dev` and neither, of the development one */
  organization?: string | undefined;
  /** uid of the owner, with `--dev` */
  identity?: string | undefined;
}

/** `roles`: the built-in ones (default: those of the table). Throws SeedError. A store that has the records already stays as it is. */
export const ensureRecords = (
  seed: Seed | CopySeed | undefined,
  context: SeedContext,
  roles?: RoleBundles,
): StartRecords => {
  const { store, ids, now, identityRules } = context;
  const { devIssuer } = identityRules;
  if (seed && "records" in seed) applyCopy(seed, context);
  const copy = copyMarkOf(store);
  ensureAnyone(store, now);
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
