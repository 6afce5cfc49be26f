// Applies a seed through the services, as the operator: the API's rules hold for a seed as they hold for a request. A record
// that exists (same parent, same name) is left unchanged, so that a server with `--db` and `--seed` can start again.
import {
  AccountAssociation,
  Advisory,
  ExternalGroupRoleMapping,
  Identity,
  IdentityProvider,
  inputViolations,
  isUidp,
  type Json,
  KEYS_MAX,
  Repo,
  resources,
  Tag,
} from "../../schema/index.ts";
import { operator } from "../caller/caller.ts";
import { type AdvisoryInput, insertAdvisory } from "../services/advisory.ts";
import type { ServiceContext } from "../services/context.ts";
import { services } from "../services/index.ts";
import { builtInRoleUid } from "../services/role.ts";
import { shapes } from "../store/shape.ts";
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
const providerOfRole = (defaultRole: string): Json => ({ name: STAND_IN, defaultRole, oidc: OIDC });

// The file refers to records by other names than the API.
const NAMES = { identityUid: "identity", roleUid: "role", content: "readme" };

type Kind = keyof typeof resources;
type Create = (request: Json, context: ServiceContext) => { uid: string };

// Words for the sections that others refer to.
const WORDS = { groups: "group", identities: "identity", identityProviders: "identity provider" } as const;
type Referred = keyof typeof WORDS;

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
  const { store } = context;
  const options = { ignoresTaken: isTrial, names: NAMES };
  const { found, pathsOfUids, report, reportViolations, decode, create } = createProblems(options);
  const groupUids = new Map<string, string>();
  const roleUids = new Map<string, string>();
  const identityUids = new Map<string, string>();
  const providerUids = new Map<string, string>();

  const find = finderIn(store);
  const existing = (kind: Kind, parent: string | null, name: string): string | undefined =>
    isTrial ? undefined : find(kind, parent, { name });
  // The uid of the first record that the service accepts.
  const createOne = (kind: Kind, path: PropertyKey[], parent: string, ...records: (Json | undefined)[]) => {
    const service = services[`Create${resources[kind].type}` as keyof typeof services] as unknown as Create;
    return create(path, (record) => service({ parent, [kind]: record }, context), ...records);
  };

  const organization =
    existing("group", null, seed.organization.name) ??
    (createOne("group", ["organization"], "", seed.organization, GROUP) as string);
  groupUids.set("", organization);
  pathsOfUids.set(organization, "");

  const lookUp = (uids: ReadonlyMap<string, string>, refersTo: Referred, name: string, path: PropertyKey[]) => {
    const uid = uids.get(name);
    if (uid === undefined)
      report({ path, text: `there is no ${WORDS[refersTo]} ${show(name)} in this file`, refersTo });
    return uid;
  };
  const groupOf = (name: string, path: PropertyKey[]): string =>
    lookUp(groupUids, "groups", name, path) ?? organization;
  const roleOf = (name: string, path: PropertyKey[]): string => {
    const uid = roleUids.get(name);
    if (uid !== undefined) return uid;
    if (store.get(shapes.role, builtInRoleUid(name))) return builtInRoleUid(name);
    if (isUidp(name) && (!isTrial || store.get(shapes.role, name))) return name;
    if (!isUidp(name))
      report({ path, text: `there is no role ${show(name)} in this file, nor is it built in`, refersTo: "roles" });
    return builtInRoleUid("viewer");
  };
  const identityOf = (name: string, path: PropertyKey[]): string =>
    lookUp(identityUids, "identities", name, path) ?? (createOne("identity", path, organization, IDENTITY) as string);
  const providerOf = (name: string, path: PropertyKey[]): string =>
    lookUp(providerUids, "identityProviders", name, path) ??
    (createOne("identityProvider", path, organization, providerOfRole(builtInRoleUid("viewer"))) as string);

  // The records of a section, each with its place in the file and the uid of its group.
  const recordsIn = <R extends { group: string }>(section: keyof Seed, records: readonly R[] = []) =>
    records.map((record, i) => {
      const path = [section, i];
      return { record, path, parent: groupOf(record.group, [...path, "group"]) };
    });

  // Parents before children, whatever their order in the file.
  const groups = seed.groups.map((group, i) => ({ ...group, path: ["groups", i] }));
  for (const { parent: above, path, ...group } of groups.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    const parent = groupOf(above, [...path, "parent"]);
    const uid = existing("group", parent, group.name) ?? createOne("group", path, parent, group, GROUP) ?? parent;
    groupUids.set(seedPath(above, group.name), uid);
    pathsOfUids.set(uid, seedPath(above, group.name));
  }

  for (const { record: role, path, parent } of recordsIn("roles", seed.roles)) {
    const uid = existing("role", parent, role.name) ?? createOne("role", path, parent, roleInput(role), ROLE);
    roleUids.set(seedPath(role.group, role.name), uid as string);
    pathsOfUids.set(uid as string, seedPath(role.group, role.name));
  }

  for (const { record: identity, path, parent } of recordsIn("identities", seed.identities)) {
    // The API stores keys that verify nothing, with a warning; the author of a file can still correct them.
    const keys = identity.staticKeys?.issuerKeys;
    const description = typeof keys === "string" && keys && keys.length <= KEYS_MAX && jwksViolation(keys);
    if (description) reportViolations([{ field: "staticKeys.issuerKeys", description }], path);
    const input = decode(path, Identity, identityInput(identity, context.identityRules.devIssuer)) as
      | Identity
      | undefined;
    // Whether keys have expired depends on the clock of the server.
    if (isTrial) delete input?.staticKeys?.expirationTime;
    const uid = existing("identity", parent, identity.name) ?? createOne("identity", path, parent, input, IDENTITY);
    identityUids.set(seedPath(identity.group, identity.name), uid as string);
  }

  for (const { record, path, parent } of recordsIn("identityProviders", seed.identityProviders)) {
    const { group, ...provider } = record;
    const defaultRole = roleOf(provider.defaultRole, [...path, "defaultRole"]);
    const input = decode(path, IdentityProvider, { ...provider, defaultRole });
    const uid =
      existing("identityProvider", parent, provider.name) ??
      createOne("identityProvider", path, parent, input, providerOfRole(defaultRole));
    providerUids.set(seedPath(group, provider.name), uid as string);
  }

  for (const [i, { identityProvider, role, ...mapping }] of (seed.externalGroupRoleMappings ?? []).entries()) {
    const path = ["externalGroupRoleMappings", i];
    const roleUid = roleOf(role, [...path, "role"]);
    const parent = providerOf(identityProvider, [...path, "identityProvider"]);
    const input = decode(path, ExternalGroupRoleMapping, { ...mapping, roleUid, scope: organization });
    const columns = { external_group_id: mapping.externalGroupId, role_uid: roleUid };
    if (isTrial || !find("externalGroupRoleMapping", parent, columns))
      createOne("externalGroupRoleMapping", path, parent, input);
  }

  for (const { record, path, parent } of recordsIn("accountAssociations", seed.accountAssociations)) {
    const { group: _, ...association } = record;
    const input = decode(path, AccountAssociation, association);
    if (isTrial || !store.get(shapes.accountAssociation, parent)) createOne("accountAssociation", path, parent, input);
  }

  for (const { record, path, parent } of recordsIn("repos", seed.repos)) {
    const { group: _, tags = [], readme, ...repo } = record;
    const present = existing("repo", parent, repo.name);
    const input = decode(path, Repo, repo);
    const uid = present ?? (createOne("repo", path, parent, input, { name: `${STAND_IN}-${path[1]}` }) as string);
    const update = (repoReadme: Json) =>
      services.UpdateRepoReadme({ repoReadme: { uid, ...repoReadme }, updateMask: "content" }, context);
    if (!present && readme) create(path, update, { content: readme });
    for (const [k, tag] of tags.entries()) {
      const tagPath = [...path, "tags", k];
      const decoded = decode(tagPath, Tag, tag);
      if (isTrial || !find("tag", uid, { name: tag.name })) createOne("tag", tagPath, uid, decoded);
    }
  }

  for (const { record, path, parent } of recordsIn("advisories", seed.advisories)) {
    const { group: _, origin, ...advisory } = record;
    const input = decode(path, Advisory, advisory);
    const violations = input ? inputViolations(Advisory, input) : [];
    reportViolations(violations, path);
    const present = find("advisory", parent, { advisory_id: advisory.advisoryId });
    if (!input || violations.length > 0 || present) continue;
    addAdvisory(context, parent, { ...(input as unknown as AdvisoryInput), ...(origin && { origin }) });
  }

  for (const { record: binding, path, parent } of recordsIn("bindings", seed.bindings)) {
    const identityUid = identityOf(binding.identity, [...path, "identity"]);
    const roleUid = roleOf(binding.role, [...path, "role"]);
    if (!find("roleBinding", parent, { identity_uid: identityUid, role_uid: roleUid }))
      createOne("roleBinding", path, parent, { identityUid, roleUid });
  }
  return { organization, problems: found };
};

/** Finds the uid of a record by its parent and columns of its table. */
const finderIn =
  (store: ServiceContext["store"]) =>
  (kind: Kind, parent: string | null, columns: Record<string, string>): string | undefined => {
    const where = Object.keys(columns).map((name) => ` AND ${name} = ?`);
    const sql = `SELECT uid FROM ${shapes[kind].table} WHERE parent IS ?${where.join("")} LIMIT 1`;
    return store.statement(sql).get(parent, ...Object.values(columns))?.uid as string | undefined;
  };

/** No method of the API creates one. */
const addAdvisory = ({ store, ids, now }: ServiceContext, parent: string, advisory: AdvisoryInput): void => {
  const uid = `${parent}/${ids.segment()}`;
  const { events, createTime = new Date(now).toISOString(), ...rest } = advisory;
  const dated = events?.map((event) => ({
    ...event,
    uid: `${uid}/${ids.segment()}`,
    createTime: event.createTime ?? createTime,
  }));
  insertAdvisory(store, uid, { ...rest, createTime, events: dated }, now);
};

const show = (name: string): string => JSON.stringify(name);

const depthOf = ({ parent }: { parent: string }): number => (parent === "" ? 0 : parent.split("/").length);
