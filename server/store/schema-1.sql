-- Format 1: groups, identities, roles, role bindings and repos.
-- One table a kind: what lists filter, order and join by are columns, the rest of the record is JSON in `body`.
-- Times are milliseconds since the epoch. A root record has no parent.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE groups (
  uid TEXT PRIMARY KEY,
  parent TEXT REFERENCES groups (uid),
  name TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE identities (
  uid TEXT PRIMARY KEY,
  parent TEXT REFERENCES groups (uid),
  name TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  last_seen_time INTEGER NOT NULL,
  relationship TEXT NOT NULL,
  -- exact issuer and subject of a claim match or of static keys, for the exchange
  issuer TEXT,
  subject TEXT,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE roles (
  uid TEXT PRIMARY KEY,
  parent TEXT REFERENCES groups (uid),
  name TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE role_bindings (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  identity_uid TEXT NOT NULL REFERENCES identities (uid) ON DELETE CASCADE,
  role_uid TEXT NOT NULL REFERENCES roles (uid),
  -- 1: made its identity owner of a new root group; goes with the group and does not block its deletion
  founding INTEGER NOT NULL DEFAULT 0,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE repos (
  uid TEXT PRIMARY KEY,
  parent TEXT NOT NULL REFERENCES groups (uid),
  name TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (parent, name)
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
