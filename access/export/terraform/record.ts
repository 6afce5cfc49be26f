// The resources of the Terraform provider, and how their attributes differ from what the API says now.
import { capabilityName, isObject, isRoot, type Json, valueAt } from "../../../schema/index.ts";
import { compare } from "../../graph/compare.ts";
import type { Listed } from "../../graph/live-record.ts";
import type { ExportKind } from "../read.ts";

export interface ResourceType {
  kind: ExportKind;
  fields: readonly Field[];
  /** attributes that no resource here declares: they stay as they are */
  notDeclared?: readonly string[];
}

interface Field {
  /** path of the attribute: `claim_match.subject` */
  path: string;
  live(record: Listed): unknown;
  /** the value of the state as `live` has it; undefined: it says nothing */
  state?(value: unknown, record: Listed, attributes: Json): unknown;
  /** the provider does not read it back, so an empty one says nothing */
  saysNothingIfEmpty?: boolean;
}

const camelCase = (path: string): string => path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const field = (path: string, more: Partial<Field> & { api?: string } = {}): Field => {
  const { api = camelCase(path), ...own } = more;
  return { path, live: (record) => valueAt(record, api), ...own };
};

const uidOf = (name: string) => (record: Listed) => valueAt(record, `${name}.uid`) ?? record[`${name}Uid`];

const withoutPrefix = (api: string, prefix: string) => (record: Listed) => {
  const value = valueAt(record, api);
  return typeof value === "string" ? value.replace(prefix, "").replace(/^UNSPECIFIED$/, "") : value;
};

/** Keys as JSON: their order and white space mean nothing. */
const json = (value: unknown): unknown => {
  try {
    return typeof value === "string" ? JSON.parse(value) : value;
  } catch {
    return value;
  }
};

// The provider writes whole seconds.
const seconds = (value: unknown): unknown => {
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? value : Math.floor(ms / 1000);
};

/** Of a repo that syncs: its source decides. */
const unlessSynced = (path: string, more: Parameters<typeof field>[1] = {}): Field =>
  field(path, {
    saysNothingIfEmpty: true,
    state: (value, record) => (record.sync_config || record.syncConfig ? undefined : value),
    ...more,
  });

const syncField = (name: string, more: Partial<Field> = {}): Field =>
  field(`sync_config.${name}`, {
    live: ({ syncConfig, sync_config = syncConfig }) => valueAt(sync_config, name),
    saysNothingIfEmpty: true,
    ...more,
  });

const installations = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .filter(isObject)
    .map(({ app_id, installation_id, name }) => `${app_id}/${installation_id}/${name ?? ""}`);

const liveInstallations = ({ github }: Listed): string[] =>
  Object.entries((valueAt(github, "appInstallations") ?? {}) as Json)
    .sort(([a], [b]) => Number(a) - Number(b))
    .flatMap(([app, held]) =>
      ((valueAt(held, "installations") ?? []) as Json[]).map(
        ({ installationId, name = "" }) => `${app}/${installationId}/${name}`,
      ),
    );

const DESCRIPTION = field("description");
const NAME = field("name");

const TYPES: Readonly<Record<string, ResourceType>> = {
  chainguard_group: {
    kind: "group",
    fields: [
      NAME,
      DESCRIPTION,
      field("verified"),
      // Those below an organization have its kind.
      field("kind", {
        live: withoutPrefix("kind", "ORG_KIND_"),
        state: (value, { uid }) => (isRoot(uid) ? value : undefined),
      }),
    ],
  },
  chainguard_identity: {
    kind: "identity",
    fields: [
      NAME,
      DESCRIPTION,
      ...["issuer", "issuer_pattern", "subject", "subject_pattern", "audience", "audience_pattern"].map((name) =>
        field(`claim_match.${name}`),
      ),
      field("claim_match.claims"),
      field("claim_match.claim_patterns"),
      field("aws_identity.aws_account"),
      field("aws_identity.aws_user_id", { api: "awsIdentity.userId" }),
      field("aws_identity.aws_user_id_pattern", { api: "awsIdentity.userIdPattern" }),
      field("aws_identity.aws_arn", { api: "awsIdentity.arn" }),
      field("aws_identity.aws_arn_pattern", { api: "awsIdentity.arnPattern" }),
      field("static.issuer", { api: "staticKeys.issuer" }),
      field("static.subject", { api: "staticKeys.subject" }),
      field("static.issuer_keys", {
        live: (record) => json(valueAt(record, "staticKeys.issuerKeys")),
        state: json,
      }),
      field("static.expiration", {
        live: (record) => seconds(valueAt(record, "staticKeys.expirationTime")),
        state: seconds,
      }),
      field("service_principal", { live: withoutPrefix("servicePrincipal", "SERVICE_PRINCIPAL_") }),
    ],
  },
  chainguard_rolebinding: {
    kind: "roleBinding",
    fields: [field("identity", { live: uidOf("identity") }), field("role", { live: uidOf("role") })],
  },
  chainguard_role: {
    kind: "role",
    fields: [
      NAME,
      DESCRIPTION,
      field("capabilities", { live: ({ capabilities = [] }) => (capabilities as string[]).map(capabilityName) }),
    ],
  },
  chainguard_identity_provider: {
    kind: "identityProvider",
    fields: [
      NAME,
      DESCRIPTION,
      field("default_role"),
      field("oidc.issuer"),
      field("oidc.client_id"),
      field("oidc.additional_scopes"),
    ],
  },
  // The provider never reads its fields back, and an invite does not change.
  chainguard_group_invite: { kind: "groupInvite", fields: [field("role", { live: uidOf("role") }), field("email")] },
  chainguard_account_associations: {
    kind: "accountAssociation",
    fields: [
      NAME,
      DESCRIPTION,
      field("amazon.account"),
      field("google.project_id"),
      field("google.project_number"),
      field("azure.tenant_id"),
      field("azure.client_ids"),
      field("chainguard.service_bindings"),
      // It has room for one installation, and shows the first.
      field("github", {
        live: (record) => liveInstallations(record).slice(0, 1),
        state: installations,
        saysNothingIfEmpty: true,
      }),
      field("github_installation", {
        live: liveInstallations,
        state: (value, _, { github }) => (github ? undefined : installations(value)),
      }),
    ],
  },
  chainguard_image_repo: {
    kind: "repo",
    fields: [
      NAME,
      field("description", { saysNothingIfEmpty: true }),
      unlessSynced("bundles"),
      unlessSynced("aliases"),
      unlessSynced("active_tags"),
      unlessSynced("tier", { live: withoutPrefix("catalogTier", "CATALOG_TIER_") }),
      // As the configuration spells it: a uid, or a path, which the API answers with the uid.
      syncField("source", {
        state: (value) => (/^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/.test(String(value)) ? value : undefined),
      }),
      syncField("google"),
      syncField("amazon"),
      syncField("azure"),
    ],
    notDeclared: ["readme"],
  },
  chainguard_image_tag: {
    kind: "tag",
    fields: [NAME, field("bundles", { saysNothingIfEmpty: true }), field("deprecated")],
  },
};

/** Undefined where no resource here stands for it. */
export const resourceTypeOf = (type: string): ResourceType | undefined =>
  Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;

/** The attributes that differ from the record, by their paths. Never their values, which may be secret. */
export const changedFields = ({ fields }: ResourceType, attributes: Json, record: Listed): string[] => {
  const isChanged = ({ path, state, saysNothingIfEmpty = false, live }: Field): boolean => {
    const given = attributeAt(attributes, path);
    if (given === undefined) return false;
    const value = state === undefined ? given : state(given, record, attributes);
    if (value === undefined) return false;
    const text = textOf(value);
    return !(saysNothingIfEmpty && text === EMPTY) && text !== textOf(live(record));
  };
  return fields.filter(isChanged).map(({ path }) => path);
};

/** Null where it or its block is not set; undefined where the state of an older provider does not know it. */
const attributeAt = (attributes: Json, path: string): unknown => {
  let at: unknown = attributes;
  for (const name of path.split(".")) {
    // The blocks of older providers are lists of one.
    const block: unknown = Array.isArray(at) ? (at[0] ?? null) : at;
    if (!isObject(block)) return null;
    if (!Object.hasOwn(block, name)) return undefined;
    at = block[name];
  }
  return at ?? null;
};

const EMPTY = "";
// No attribute is deeper.
const DEPTH_MAX = 8;

/** Equal for values that mean the same. What is not set is empty, and the order of lists and maps means nothing. */
const textOf = (value: unknown, depth = 0): string => {
  if (value === undefined || value === null || value === false || depth > DEPTH_MAX) return EMPTY;
  const texts = Array.isArray(value)
    ? value.map((item) => textOf(item, depth + 1))
    : isObject(value) &&
      Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${textOf(item, depth + 1)}`);
  if (!texts) return value === "" ? EMPTY : JSON.stringify(String(value));
  return texts.length === 0 ? EMPTY : `[${texts.sort(compare).join(",")}]`;
};
