// Applies a seed through the services, as the operator: the API's rules hold for a seed as they hold for a request. A record
// that exists (same parent, same name) is left unchanged, so that a server with `--db` and `--seed` can start again.
import {
  AccountAssociation,
  Advisory,
  ExternalGroupRoleMapping,
  type Group,
  Identity,
  IdentityProvider,
  inputViolations,
  isUidp,
  type Json,
  KEYS_MAX,
  Repo,
  type Role,
  type RoleBinding,
  Tag,
} from "../../schema/index.ts";
import { operator } from "../caller/authorize.ts";
import { accountAssociationService } from "../services/account-association.ts";
import { type AdvisoryInput, insertAdvisory } from "../services/advisory.ts";
import { builtInRoleUid, isBuiltInRole } from "../services/built-in-role.ts";
import type { ServiceContext } from "../services/context.ts";
import { externalGroupRoleMappingService } from "../services/external-group-role-mapping.ts";
import { groupService } from "../services/group.ts";
import { identityService } from "../services/identity.ts";
import { identityProviderService } from "../services/identity-provider.ts";
import { repoService } from "../services/repo.ts";
import { roleService } from "../services/role.ts";
import { roleBindingService } from "../services/role-binding.ts";
import { tagService, tagUid } from "../services/tag.ts";
import { shapes } from "../store/shape.ts";
import type { Shape } from "../store/store.ts";
import { jwksViolation } from "../sts/index.ts";
import { createProblems, type Problem } from "./problem.ts";
import { DEV_ISSUER_WORD, identityInput, problemText, roleInput, type Seed, SeedError, seedPath } from "./record.ts";

export type SeedContext = Omit<ServiceContext, "caller" | "capabilities">;

/** Applies a seed in one transaction. Throws SeedError with every problem. Returns the uid of the organization. */
export const applySeed = (seed: Seed, context: SeedContext): string =>
  context.store.transaction(() => {
    const isDevIssuer = ({ claimMatch }: Seed["identities"][number]) => claimMatch?.issuer === DEV_ISSUER_WORD;
    if (!context.identityRules.devIssuer && seed.identities.some(isDevIssuer))
      throw new SeedError(`issuer ${DEV_ISSUER_WORD} stands for the development issuer: start the server with --dev`);
    const { organization, problems } = createRecords(seed, context);
    if (problems.length > 0) throw new SeedError(problemText(seed, problems));
    return organization;
  });

// Valid records that take the place of refused ones, so that what refers to those is checked as well.
const STAND_IN = "stand-in";
const GROUP = { name: STAND_IN };
const ROLE = { name: STAND_IN, capabilities: ["CAP_IAM_GROUPS_LIST"] };
const IDENTITY = { name: STAND_IN, servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" };
const OIDC = { issuer: "https://issuer.example", clientId: STAND_IN, pkceEnabled: true };

/**
 * Creates the records and collects what the services refuse. A trial on an empty store checks a file. It never treats a
 * record as existing. It accepts any uid of a role, since only the real store knows those.
 */
export const createRecords = (
  seed: Seed,
  seedContext: SeedContext,
  isTrial = false,
): { organization: string; problems: Problem[] } => {
  const context: ServiceContext = { ...seedContext, caller: operator, capabilities: [] };
  const { store, ids, now } = context;
  const { found, pathsOfUids, report, reportViolations, decode, create } = createProblems(isTrial);
  const groupUids = new Map<string, string>();
  const roleUids = new Map<string, string>();
  const identityUids = new Map<string, string>();
  const providerUids = new Map<string, string>();

  const find = (table: Shape["table"], parent: string | null, columns: Record<string, string>): string | undefined => {
    const where = Object.keys(columns).map((name) => ` AND ${name} = ?`);
    const sql = `SELECT uid FROM ${table} WHERE parent IS ?${where.join("")} LIMIT 1`;
    return store.statement(sql).get(parent, ...Object.values(columns))?.uid as string | undefined;
  };
  const existing = (table: Shape["table"], parent: string | null, name: string): string | undefined =>
    isTrial ? undefined : find(table, parent, { name });
  const createGroup = (path: PropertyKey[], parent: string, group: Json): string | undefined =>
    create(path, (record) => groupService.CreateGroup({ parent, group: record as Group }, context), group, GROUP);

  const organization =
    existing("groups", null, seed.organization.name) ??
    (createGroup(["organization"], "", seed.organization) as string);
  groupUids.set("", organization);
  pathsOfUids.set(organization, "");

  const groupOf = (name: string, path: PropertyKey[]): string => {
    const uid = groupUids.get(name);
    if (uid === undefined) report({ path, text: `there is no group ${show(name)} in this file`, refersTo: "groups" });
    return uid ?? organization;
  };
  const roleOf = (name: string, path: PropertyKey[]): string => {
    const uid = roleUids.get(name);
    if (uid !== undefined) return uid;
    if (isBuiltInRole(name)) return builtInRoleUid(name);
    if (isUidp(name) && (!isTrial || store.get(shapes.role, name))) return name;
    if (!isUidp(name))
      report({ path, text: `there is no role ${show(name)} in this file, nor is it built in`, refersTo: "roles" });
    return builtInRoleUid("viewer");
  };
  const createIdentity = (path: PropertyKey[], parent: string, identity: Json | undefined): string => {
    const service = (record: Json) => identityService.CreateIdentity({ parent, identity: record as Identity }, context);
    return create(path, service, identity, IDENTITY) as string;
  };
  const identityOf = (name: string, path: PropertyKey[]): string => {
    const uid = identityUids.get(name);
    if (uid !== undefined) return uid;
    report({ path, text: `there is no identity ${show(name)} in this file`, refersTo: "identities" });
    return createIdentity(path, organization, undefined);
  };

  const createProvider = (path: PropertyKey[], parent: string, defaultRole: string, provider: Json | undefined) =>
    create(
      path,
      (record) =>
        identityProviderService.CreateIdentityProvider(
          { parent, identityProvider: record as IdentityProvider },
          context,
        ),
      provider,
      { name: STAND_IN, defaultRole, oidc: OIDC },
    );
  const providerOf = (name: string, path: PropertyKey[]): string => {
    const uid = providerUids.get(name);
    if (uid !== undefined) return uid;
    const text = `there is no identity provider ${show(name)} in this file`;
    report({ path, text, refersTo: "identityProviders" });
    return createProvider(path, organization, builtInRoleUid("viewer"), undefined) as string;
  };

  // Parents before children, whatever their order in the file.
  const groups = seed.groups.map((group, i) => ({ ...group, path: ["groups", i] }));
  for (const { parent: above, path, ...group } of groups.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    const parent = groupOf(above, [...path, "parent"]);
    const uid = existing("groups", parent, group.name) ?? createGroup(path, parent, group) ?? parent;
    groupUids.set(seedPath(above, group.name), uid);
    pathsOfUids.set(uid, seedPath(above, group.name));
  }

  for (const [i, role] of seed.roles.entries()) {
    const path = ["roles", i];
    const parent = groupOf(role.group, [...path, "group"]);
    const service = (record: Json) => roleService.CreateRole({ parent, role: record as Role }, context);
    const uid = existing("roles", parent, role.name) ?? create(path, service, roleInput(role), ROLE);
    roleUids.set(seedPath(role.group, role.name), uid as string);
    pathsOfUids.set(uid as string, seedPath(role.group, role.name));
  }

  for (const [i, identity] of seed.identities.entries()) {
    const path = ["identities", i];
    const parent = groupOf(identity.group, [...path, "group"]);
    // The API stores keys that verify nothing, with a warning; the author of a file can still correct them.
    const keys = identity.staticKeys?.issuerKeys;
    const description = typeof keys === "string" && keys && keys.length <= KEYS_MAX && jwksViolation(keys);
    if (description) reportViolations([{ field: "staticKeys.issuerKeys", description }], path);
    const input = decode(path, Identity, identityInput(identity, context.identityRules.devIssuer)) as
      | Identity
      | undefined;
    // Whether keys have expired depends on the clock of the server.
    if (isTrial) delete input?.staticKeys?.expirationTime;
    const uid = existing("identities", parent, identity.name) ?? createIdentity(path, parent, input);
    identityUids.set(seedPath(identity.group, identity.name), uid);
  }

  for (const [i, { group, ...provider }] of (seed.identityProviders ?? []).entries()) {
    const path = ["identityProviders", i];
    const parent = groupOf(group, [...path, "group"]);
    const defaultRole = roleOf(provider.defaultRole, [...path, "defaultRole"]);
    const input = decode(path, IdentityProvider, { ...provider, defaultRole });
    const uid =
      existing("identity_providers", parent, provider.name) ?? createProvider(path, parent, defaultRole, input);
    providerUids.set(seedPath(group, provider.name), uid as string);
  }

  for (const [i, { identityProvider, role, ...mapping }] of (seed.externalGroupRoleMappings ?? []).entries()) {
    const path = ["externalGroupRoleMappings", i];
    const roleUid = roleOf(role, [...path, "role"]);
    const parent = providerOf(identityProvider, [...path, "identityProvider"]);
    const input = decode(path, ExternalGroupRoleMapping, { ...mapping, roleUid, scope: organization });
    const service = (record: Json) =>
      externalGroupRoleMappingService.CreateExternalGroupRoleMapping(
        { parent, externalGroupRoleMapping: record as ExternalGroupRoleMapping },
        context,
      );
    const columns = { external_group_id: mapping.externalGroupId, role_uid: roleUid };
    if (isTrial || !find("external_group_role_mappings", parent, columns)) create(path, service, input);
  }

  for (const [i, { group, ...association }] of (seed.accountAssociations ?? []).entries()) {
    const path = ["accountAssociations", i];
    const parent = groupOf(group, [...path, "group"]);
    const service = (record: Json) =>
      accountAssociationService.CreateAccountAssociation(
        { parent, accountAssociation: record as AccountAssociation },
        context,
      );
    const input = decode(path, AccountAssociation, association);
    if (isTrial || !store.get(shapes.accountAssociation, parent)) create(path, service, input);
  }

  for (const [i, { group, tags = [], readme, ...repo }] of seed.repos.entries()) {
    const path = ["repos", i];
    const parent = groupOf(group, [...path, "group"]);
    const present = existing("repos", parent, repo.name);
    const service = (record: Json) => repoService.CreateRepo({ parent, repo: record as Repo }, context);
    const input = decode(path, Repo, repo);
    const uid = present ?? (create(path, service, input, { name: `${STAND_IN}-${i}` }) as string);
    const update = (repoReadme: Json) =>
      repoService.UpdateRepoReadme({ repoReadme: { uid, ...repoReadme }, updateMask: "content" }, context);
    if (!present && readme) create(path, update, { content: readme });
    for (const [k, tag] of tags.entries()) {
      const input = decode([...path, "tags", k], Tag, tag);
      const createTag = (value: Json) => tagService.CreateTag({ parent: uid, tag: value as Tag }, context);
      if (isTrial || !tagUid(store, uid, tag.name)) create([...path, "tags", k], createTag, input);
    }
  }

  // No method of the API creates an advisory.
  for (const [i, { group, origin, ...advisory }] of (seed.advisories ?? []).entries()) {
    const path = ["advisories", i];
    const parent = groupOf(group, [...path, "group"]);
    const input = decode(path, Advisory, advisory);
    const violations = input ? inputViolations(Advisory, input) : [];
    reportViolations(violations, path);
    const present = find("advisories", parent, { advisory_id: advisory.advisoryId });
    if (!input || violations.length > 0 || present) continue;
    const uid = `${parent}/${ids.segment()}`;
    const { events, createTime = new Date(now).toISOString(), ...rest } = input as unknown as AdvisoryInput;
    const dated = events?.map((event) => ({
      ...event,
      uid: `${uid}/${ids.segment()}`,
      createTime: event.createTime ?? createTime,
    }));
    insertAdvisory(store, uid, { ...rest, createTime, events: dated, ...(origin && { origin }) }, now);
  }

  for (const [i, binding] of seed.bindings.entries()) {
    const path = ["bindings", i];
    const parent = groupOf(binding.group, [...path, "group"]);
    const identityUid = identityOf(binding.identity, [...path, "identity"]);
    const roleUid = roleOf(binding.role, [...path, "role"]);
    const service = (record: Json) =>
      roleBindingService.CreateRoleBinding({ parent, roleBinding: record as RoleBinding }, context);
    if (!find("role_bindings", parent, { identity_uid: identityUid, role_uid: roleUid }))
      create(path, service, { identityUid, roleUid });
  }
  return { organization, problems: found };
};

const show = (name: string): string => JSON.stringify(name);

const depthOf = ({ parent }: { parent: string }): number => (parent === "" ? 0 : parent.split("/").length);
