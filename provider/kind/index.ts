// The kinds of resource, by the name that the state of each resource holds (provider/program/resource.ts).
import { accountAssociation } from "./account-association.ts";
import { group } from "./group.ts";
import { groupInvite } from "./group-invite.ts";
import { identity } from "./identity.ts";
import { identityProvider } from "./identity-provider.ts";
import { type Kind, TYPE_PREFIX } from "./kind.ts";
import { repo } from "./repo.ts";
import { role } from "./role.ts";
import { roleBinding } from "./role-binding.ts";
import { tag } from "./tag.ts";

/** Written out: the published types name the kinds, and hold nothing of what a kind is. */
export type KindName =
  | "accountAssociation"
  | "group"
  | "groupInvite"
  | "identity"
  | "identityProvider"
  | "repo"
  | "role"
  | "roleBinding"
  | "tag";

export const kindRecords: Readonly<Record<KindName, Kind>> = {
  group,
  identity,
  role,
  roleBinding,
  groupInvite,
  identityProvider,
  accountAssociation,
  repo,
  tag,
};

/** The kind of a type token of the engine; undefined for a resource that is not ours. */
export const kindOfToken = (token: string | undefined): Kind | undefined =>
  Object.values(kindRecords).find(({ type }) => TYPE_PREFIX + type === token);
