-- Owner: skills -----------------------------------------------------------------------------------------
-- Text skills of others, one for each name: the bytes that a person said yes to, and who said it.
-- state: active, revoked, expired or labelled; event_id is NULL for what came from a local file.
CREATE TABLE skills (
  name        TEXT PRIMARY KEY,
  content     TEXT NOT NULL,
  hash        TEXT NOT NULL,
  event_id    TEXT,
  source      TEXT NOT NULL,
  approved_by TEXT NOT NULL,
  approved_at REAL NOT NULL,
  state       TEXT NOT NULL DEFAULT 'active',
  reason      TEXT NOT NULL DEFAULT '',
  state_at    REAL NOT NULL
) WITHOUT ROWID;
-- Where each of them came from, also for versions that were replaced since.
CREATE TABLE skill_events (
  event_id    TEXT NOT NULL,
  name        TEXT NOT NULL,
  author      TEXT NOT NULL,
  address     TEXT NOT NULL,
  version     TEXT NOT NULL,
  expires_at  INTEGER NOT NULL,
  relays      TEXT NOT NULL,
  labels      TEXT NOT NULL,
  received_at REAL NOT NULL,
  raw         BLOB NOT NULL,
  PRIMARY KEY (name, event_id)
) WITHOUT ROWID;
