-- Format 3: external groups of identity providers.

CREATE TABLE external_group_role_mappings (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES identity_providers (uid) ON DELETE CASCADE,
  external_group_id TEXT NOT NULL,
  role_uid TEXT NOT NULL REFERENCES roles (uid),
  scope TEXT NOT NULL REFERENCES groups (uid),
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (parent, external_group_id, role_uid, scope)
) STRICT;

CREATE INDEX external_group_role_mappings_role ON external_group_role_mappings (role_uid);
CREATE INDEX external_group_role_mappings_scope ON external_group_role_mappings (scope);
