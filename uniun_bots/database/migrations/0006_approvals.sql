-- Owner: approvals --------------------------------------------------------------------------------------
-- What waits for a person's yes. One row per proposal: a run that is tried again after a crash proposes the same.
CREATE TABLE approvals (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  gana       TEXT NOT NULL,
  action     TEXT NOT NULL,
  run        INTEGER,
  surface    TEXT NOT NULL,
  key        TEXT NOT NULL,
  answers    TEXT,
  asker      TEXT NOT NULL,
  payload    TEXT NOT NULL,
  digest     TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT 'waiting',
  reason     TEXT NOT NULL DEFAULT '',
  event_id   TEXT,
  at         REAL NOT NULL,
  expires_at REAL NOT NULL,
  settled_at REAL,
  UNIQUE (gana, key, action, digest)
);
CREATE INDEX approvals_by_state ON approvals (state, gana);
CREATE INDEX approvals_by_run ON approvals (run);
