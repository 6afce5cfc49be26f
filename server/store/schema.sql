-- The tables of the database, one for each kind. `body` is the record as JSON, without its uid and its times. Lists filter, order and join
-- by columns that SQLite computes from it. Times are milliseconds since the epoch. A root record has no parent.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE groups (
  uid TEXT PRIMARY KEY,
  parent TEXT REFERENCES groups (uid),
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE identities (
  uid TEXT PRIMARY KEY,
  parent TEXT REFERENCES groups (uid),
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  -- issuer and subject that role bindings show of a copied identity whose own record lacks them: JSON. No token is matched by them
  sign_in TEXT,
  relationship TEXT NOT NULL AS (CASE
    WHEN body -> '$.claimMatch' IS NOT NULL THEN 'RELATIONSHIP_TYPE_CLAIM_MATCH'
    WHEN body -> '$.staticKeys' IS NOT NULL THEN 'RELATIONSHIP_TYPE_STATIC'
    WHEN body -> '$.awsIdentity' IS NOT NULL THEN 'RELATIONSHIP_TYPE_AWS_IDENTITY'
    WHEN body -> '$.servicePrincipal' IS NOT NULL THEN 'RELATIONSHIP_TYPE_SERVICE_PRINCIPAL'
    ELSE 'RELATIONSHIP_TYPE_UNSPECIFIED'
  END) STORED,
  -- exact issuer and subject of a claim match or of static keys, for the exchange
  issuer TEXT AS (coalesce(body -> '$.claimMatch', body -> '$.staticKeys', sign_in) ->> '$.issuer') STORED,
  subject TEXT AS (coalesce(body -> '$.claimMatch', body -> '$.staticKeys', sign_in) ->> '$.subject') STORED,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE roles (
  uid TEXT PRIMARY KEY,
  parent TEXT REFERENCES groups (uid),
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE role_bindings (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  identity_uid TEXT NOT NULL AS (body ->> '$.identityUid') STORED REFERENCES identities (uid) ON DELETE CASCADE,
  role_uid TEXT NOT NULL AS (body ->> '$.roleUid') STORED REFERENCES roles (uid),
  -- 1: made its identity owner of a new root group; deleted with the group, and does not block its deletion
  founding INTEGER NOT NULL DEFAULT 0,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE repos (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL,
  readme TEXT NOT NULL DEFAULT '',
  UNIQUE (parent, name)
) STRICT;

CREATE TABLE identity_providers (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  default_role TEXT NOT NULL AS (body ->> '$.defaultRole') STORED REFERENCES roles (uid),
  -- 1: there is a client secret. The secret itself is not stored, since this server has no sign-in
  has_secret INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- At most one for each group, with the group's uid and parent.
CREATE TABLE account_associations (
  uid TEXT PRIMARY KEY REFERENCES groups (uid),
  parent TEXT,
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE group_invites (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  -- no reference: the role may be deleted before the invite
  role_uid TEXT NOT NULL AS (body ->> '$.roleUid') STORED,
  -- SHA-256 of the code in hexadecimal; the code itself is not kept
  code_hash TEXT NOT NULL UNIQUE,
  key_id TEXT NOT NULL AS (body ->> '$.keyId') STORED,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE tags (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES repos (uid) ON DELETE CASCADE,
  name TEXT NOT NULL AS (body ->> '$.name') STORED,
  digest TEXT NOT NULL AS (body ->> '$.digest') STORED,
  -- 1: of a kind that lists omit
  referrer INTEGER NOT NULL,
  dated INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (parent, name)
) STRICT;

-- Filters of lists read `body`, except for values that are computed when an advisory is written.
CREATE TABLE advisories (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  advisory_id TEXT NOT NULL AS (body ->> '$.advisoryId') STORED,
  artifact_name TEXT NOT NULL AS (body ->> '$.artifactName') STORED,
  -- the package that the artifact is built from
  origin TEXT NOT NULL,
  -- of the newest event that was approved
  latest_event_type TEXT,
  -- the texts that a query searches, in lower case: a JSON list
  search TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (parent, advisory_id)
) STRICT;

-- Families of refresh tokens: each continues the grant of an exchange.
CREATE TABLE refresh_families (
  -- SHA-256 in hexadecimal of the id that its tokens share, and of the newest token; the tokens are not stored
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL,
  identity_uid TEXT NOT NULL REFERENCES identities (uid) ON DELETE CASCADE,
  expire_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE external_group_role_mappings (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES identity_providers (uid) ON DELETE CASCADE,
  external_group_id TEXT NOT NULL AS (body ->> '$.externalGroupId') STORED,
  role_uid TEXT NOT NULL AS (body ->> '$.roleUid') STORED REFERENCES roles (uid),
  scope TEXT NOT NULL AS (body ->> '$.scope') STORED REFERENCES groups (uid),
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (parent, external_group_id, role_uid, scope)
) STRICT;

CREATE INDEX groups_parent ON groups (parent);
CREATE INDEX groups_name ON groups (name, uid);
CREATE INDEX identities_parent ON identities (parent);
CREATE INDEX identities_name ON identities (name, uid);
CREATE INDEX identities_issuer ON identities (issuer, subject);
CREATE INDEX roles_parent ON roles (parent);
CREATE INDEX roles_name ON roles (name, uid);
CREATE INDEX role_bindings_parent ON role_bindings (parent);
CREATE INDEX role_bindings_identity ON role_bindings (identity_uid);
CREATE INDEX role_bindings_role ON role_bindings (role_uid);
CREATE INDEX repos_name ON repos (name, uid);
CREATE INDEX identity_providers_parent ON identity_providers (parent);
CREATE INDEX identity_providers_role ON identity_providers (default_role);
CREATE INDEX group_invites_parent ON group_invites (parent);
CREATE INDEX group_invites_time ON group_invites (create_time, uid);
CREATE INDEX tags_name ON tags (name, uid);
CREATE INDEX tags_digest ON tags (digest);
CREATE INDEX advisories_artifact ON advisories (artifact_name);
CREATE INDEX advisories_origin ON advisories (origin);
CREATE INDEX refresh_families_identity ON refresh_families (identity_uid, expire_time);
CREATE INDEX refresh_families_end ON refresh_families (expire_time);
CREATE INDEX external_group_role_mappings_role ON external_group_role_mappings (role_uid);
CREATE INDEX external_group_role_mappings_scope ON external_group_role_mappings (scope);
