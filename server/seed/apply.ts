// Applies a seed through the services, as the operator: the API's rules apply to a seed as to a request. A record
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
  Tag,
} from "../../schema/index.ts";
import { operator } from "../caller/caller.ts";
import { type AdvisoryInput, insertAdvisory } from "../services/advisory.ts";
import type { ServiceContext } from "../services/context.ts";
import { services } from "../services/index.ts";
import type { Kind } from "../services/record.ts";
import { builtInRoleUid } from "../services/role.ts";
import { shapes } from "../store/shape.ts";
import { jwksViolation } from "../sts/index.ts";
import { createProblems, type Problem } from "./problem.ts";
import { DEV_ISSUER_WORD, identityInput, problemText, roleInput, type Seed, SeedError, seedPath } from "./record.ts";

export type SeedContext = Omit<ServiceContext, "caller" | "capabilities">;

type Columns = Readonly<Record<string, string | null>>;

/** Applies a seed in one transaction. Throws SeedError with every problem. Returns the uid of the organization. */
export const applySeed = (seed: Seed, context: SeedContext): string =>
  context.store.transaction(() => {
    const namesIt = seed.identities.some(({ claimMatch }) => claimMatch?.issuer === DEV_ISSUER_WORD);
    if (namesIt && !context.identityRules.devIssuer)
      throw new SeedError(`issuer ${DEV_ISSUER_WORD} stands for the development issuer: start the server with --dev`);
    const { organization, problems } = createRecords(seed, context);
    if (problems.length > 0) throw new SeedError(problemText(seed, problems));
    return organization;
  });

const STAND_IN = "stand-in";
const VIEWER = builtInRoleUid("viewer");

/** Valid records that take the place of refused ones, so that their dependents are also checked. */
const standIn = (kind: Kind, path: PropertyKey[]): Json | undefined => {
  const oidc = { issuer: "https://issuer.example", clientId: STAND_IN, pkceEnabled: true };
  const records: Partial<Record<Kind, Json>> = {
    group: { name: STAND_IN },
    role: { name: STAND_IN, capabilities: ["CAP_IAM_GROUPS_LIST"] },
    identity: { name: STAND_IN, servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    identityProvider: { name: STAND_IN, defaultRole: VIEWER, oidc },
    // Its name is unique in a group.
    repo: { name: [STAND_IN, ...path].join("-").toLowerCase() },
  };
  return records[kind];
};

// The file refers to records by other names than the API.
const NAMES = { identityUid: "identity", roleUid: "role", content: "readme" };

// Words for the sections to which other sections refer.
const WORDS = {
  groups: "group",
  roles: "role",
  identities: "identity",
  identityProviders: "identity provider",
} as const;
type Referred = keyof typeof WORDS;

/**
 * Creates the records and collects the refusals of the services. A trial on an empty store checks a file. It never treats a
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
  const { found, pathsOfUids, report, reportViolations, decode, attempt, create } = createProblems(options);
  // By section and path in the file.
  const uids = new Map<string, string>();

  const isStored = (kind: Kind, columns: Columns) => (isTrial ? undefined : find(store, kind, columns));
  /** The uid of the stored record of these columns, of a new one, or of a stand-in for one that is refused. */
  const ensure = (
    kind: Kind,
    path: PropertyKey[],
    parent: string,
    columns: Columns,
    ...records: (Json | undefined)[]
  ) => isStored(kind, columns) ?? create(context, kind, path, parent, ...records, standIn(kind, path));

  const keep = (section: Referred, path: string, uid: string) => {
    uids.set(`${section} ${path}`, uid);
    pathsOfUids.set(uid, path);
  };
  const { name } = seed.organization;
  const organization = ensure("group", ["organization"], "", { parent: null, name }, seed.organization) as string;
  keep("groups", "", organization);

  const lookUp = (section: Referred, name: string, path: PropertyKey[]) => {
    const uid = uids.get(`${section} ${name}`);
    if (uid === undefined)
      report({ path, text: `there is no ${WORDS[section]} ${show(name)} in this file`, refersTo: section });
    return uid;
  };
  const groupOf = (name: string, path: PropertyKey[]) => lookUp("groups", name, path) ?? organization;
  const roleOf = (name: string, path: PropertyKey[]): string => {
    const uid = uids.get(`roles ${name}`);
    if (uid !== undefined) return uid;
    if (store.get(shapes.role, builtInRoleUid(name))) return builtInRoleUid(name);
    if (isUidp(name) && (!isTrial || store.get(shapes.role, name))) return name;
    if (!isUidp(name))
      report({ path, text: `there is no role ${show(name)} in this file, nor is it built in`, refersTo: "roles" });
    return VIEWER;
  };
  const refer = (kind: Kind, section: Referred, name: string, path: PropertyKey[]) =>
    lookUp(section, name, path) ?? (create(context, kind, path, organization, standIn(kind, path)) as string);

  // The records of a section, each with its place in the file and the uid of its group.
  const recordsIn = <R extends { group: string }>(section: keyof Seed, records: readonly R[] = []) =>
    records.map(({ group, ...record }, i) => {
      const path = [section, i];
      return { record, group, path, parent: groupOf(group, [...path, "group"]) };
    });

  // Parents before children, regardless of their order in the file.
  const groups = seed.groups.map((group, i) => ({ ...group, path: ["groups", i] }));
  for (const { parent: above, path, ...group } of groups.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    const parent = groupOf(above, [...path, "parent"]);
    const uid = ensure("group", path, parent, { parent, name: group.name }, group) ?? parent;
    keep("groups", seedPath(above, group.name), uid);
  }

  for (const { record, group, path, parent } of recordsIn("roles", seed.roles)) {
    const uid = ensure("role", path, parent, { parent, name: record.name }, roleInput(record)) as string;
    keep("roles", seedPath(group, record.name), uid);
  }

  for (const { record, group, path, parent } of recordsIn("identities", seed.identities)) {
    // The API stores keys that verify nothing, with a warning; the author of a file can still correct them.
    const keys = record.staticKeys?.issuerKeys;
    const description = typeof keys === "string" && keys && keys.length <= KEYS_MAX && jwksViolation(keys);
    if (description) reportViolations([{ field: "staticKeys.issuerKeys", description }], path);
    const input = decode(path, Identity, identityInput(record, context.identityRules.devIssuer));
    // Whether keys have expired depends on the clock of the server.
    if (isTrial) delete (input as Identity | undefined)?.staticKeys?.expirationTime;
    const uid = ensure("identity", path, parent, { parent, name: record.name }, input) as string;
    keep("identities", seedPath(group, record.name), uid);
  }

  for (const { record, group, path, parent } of recordsIn("identityProviders", seed.identityProviders)) {
    const defaultRole = roleOf(record.defaultRole, [...path, "defaultRole"]);
    const input = decode(path, IdentityProvider, { ...record, defaultRole });
    const columns = { parent, name: record.name };
    // Its role is checked even if its other fields are refused.
    const ofRole = { ...standIn("identityProvider", path), defaultRole };
    const uid = ensure("identityProvider", path, parent, columns, input, ofRole) as string;
    keep("identityProviders", seedPath(group, record.name), uid);
  }

  for (const [i, { identityProvider, role, ...mapping }] of (seed.externalGroupRoleMappings ?? []).entries()) {
    const path = ["externalGroupRoleMappings", i];
    const roleUid = roleOf(role, [...path, "role"]);
    const parent = refer("identityProvider", "identityProviders", identityProvider, [...path, "identityProvider"]);
    const input = decode(path, ExternalGroupRoleMapping, { ...mapping, roleUid, scope: organization });
    const columns = { parent, external_group_id: mapping.externalGroupId, role_uid: roleUid };
    ensure("externalGroupRoleMapping", path, parent, columns, input);
  }

  for (const { record, path, parent } of recordsIn("accountAssociations", seed.accountAssociations))
    ensure("accountAssociation", path, parent, { uid: parent }, decode(path, AccountAssociation, record));

  for (const { record, path, parent } of recordsIn("repos", seed.repos)) {
    const { tags = [], readme, ...repo } = record;
    const columns = { parent, name: repo.name };
    const isPresent = isStored("repo", columns) !== undefined;
    const uid = ensure("repo", path, parent, columns, decode(path, Repo, repo)) as string;
    const repoReadme = { uid, content: readme };
    if (!isPresent && readme)
      attempt(path, () => services.UpdateRepoReadme({ repoReadme, updateMask: "content" }, context));
    for (const [k, tag] of tags.entries()) {
      const tagPath = [...path, "tags", k];
      ensure("tag", tagPath, uid, { parent: uid, name: tag.name }, decode(tagPath, Tag, tag));
    }
  }

  for (const { record, path, parent } of recordsIn("advisories", seed.advisories)) {
    const { origin, ...advisory } = record;
    const input = decode(path, Advisory, advisory);
    const violations = input ? inputViolations(Advisory, input) : [];
    reportViolations(violations, path);
    const present = find(store, "advisory", { parent, advisory_id: advisory.advisoryId });
    if (!input || violations.length > 0 || present) continue;
    addAdvisory(context, parent, { ...(input as unknown as AdvisoryInput), ...(origin && { origin }) });
  }

  for (const { record, path, parent } of recordsIn("bindings", seed.bindings)) {
    const identityUid = refer("identity", "identities", record.identity, [...path, "identity"]);
    const roleUid = roleOf(record.role, [...path, "role"]);
    const columns = { parent, identity_uid: identityUid, role_uid: roleUid };
    ensure("roleBinding", path, parent, columns, { identityUid, roleUid });
  }
  return { organization, problems: found };
};

/** Finds the uid of a record by columns of its table. */
const find = (store: ServiceContext["store"], kind: Kind, columns: Columns) => {
  const where = Object.keys(columns).map((name) => `${name} IS ?`);
  const sql = `SELECT uid FROM ${shapes[kind].table} WHERE ${where.join(" AND ")} LIMIT 1`;
  return store.statement(sql).get(...Object.values(columns))?.uid as string | undefined;
};

/** No method of the API creates one. */
const addAdvisory = ({ store, ids, now }: ServiceContext, parent: string, advisory: AdvisoryInput) => {
  const uid = `${parent}/${ids.segment()}`;
  const { events, createTime = new Date(now).toISOString(), ...rest } = advisory;
  const dated = events?.map((event) => ({
    ...event,
    uid: `${uid}/${ids.segment()}`,
    createTime: event.createTime ?? createTime,
  }));
  insertAdvisory(store, uid, { ...rest, createTime, events: dated }, now);
};

const show = (name: string) => JSON.stringify(name);

const depthOf = ({ parent }: { parent: string }) => (parent === "" ? 0 : parent.split("/").length);
