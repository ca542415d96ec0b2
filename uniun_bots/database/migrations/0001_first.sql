-- Owner: graph ------------------------------------------------------------------------------------------
-- seq is the local arrival number; AUTOINCREMENT never gives one twice, and rows become tombstones, so that
-- cursors over it stay true.
CREATE TABLE notes (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  author     TEXT NOT NULL,
  kind       INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  text       TEXT NOT NULL,
  origin     TEXT NOT NULL,
  audience   TEXT,
  heard_at   REAL NOT NULL,
  root       TEXT,
  parent     TEXT,
  deleted    INTEGER NOT NULL DEFAULT 0,
  raw        BLOB
);
CREATE INDEX notes_by_author ON notes (author, created_at);
CREATE INDEX notes_by_age ON notes (heard_at);
CREATE TABLE surfaces (surface TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (surface, seq)) WITHOUT ROWID;
CREATE INDEX surfaces_by_seq ON surfaces (seq);
CREATE TABLE edges (
  seq    INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (seq, kind, target)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target, kind);
CREATE TABLE topics (topic TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (topic, seq)) WITHOUT ROWID;
CREATE VIRTUAL TABLE notes_text USING fts5 (words, content='', tokenize='unicode61 remove_diacritics 2');
CREATE TABLE heard (
  id    TEXT NOT NULL,
  relay TEXT NOT NULL,
  at    REAL NOT NULL,
  PRIMARY KEY (id, relay)
) WITHOUT ROWID;
CREATE TABLE profiles (
  pubkey     TEXT PRIMARY KEY,
  name       TEXT NOT NULL DEFAULT '',
  about      TEXT NOT NULL DEFAULT '',
  is_bot     INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT 0,
  event_id   TEXT,
  raw        BLOB,
  checked_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE deletions (
  target TEXT NOT NULL,
  author TEXT NOT NULL,
  at     REAL NOT NULL,
  PRIMARY KEY (target, author)
) WITHOUT ROWID;

-- Owner: relays -----------------------------------------------------------------------------------------
CREATE TABLE sync_marks (
  relay      TEXT NOT NULL,
  filter     TEXT NOT NULL,
  read_up_to INTEGER NOT NULL,
  PRIMARY KEY (relay, filter)
) WITHOUT ROWID;

-- Owner: triggers ---------------------------------------------------------------------------------------
CREATE TABLE wakeups (
  gana     TEXT NOT NULL,
  surface  TEXT NOT NULL,
  due      REAL NOT NULL,
  first_at REAL NOT NULL,
  PRIMARY KEY (gana, surface)
) WITHOUT ROWID;
CREATE TABLE timetable (gana TEXT PRIMARY KEY, due INTEGER NOT NULL, rule TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE wake_mark (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
INSERT INTO wake_mark VALUES (1, 0);

-- Owner: inputs -----------------------------------------------------------------------------------------
CREATE TABLE ganas (
  gana       TEXT PRIMARY KEY,
  enabled    INTEGER NOT NULL DEFAULT 0,
  enabled_at REAL NOT NULL DEFAULT 0,
  start_seq  INTEGER NOT NULL DEFAULT 0,
  catch_up   INTEGER NOT NULL DEFAULT 0,
  paused     TEXT,
  spent      INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE cursors (
  gana    TEXT NOT NULL,
  surface TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (gana, surface)
) WITHOUT ROWID;
CREATE TABLE answered (
  gana    TEXT NOT NULL,
  key     TEXT NOT NULL,
  run     INTEGER,
  ending  TEXT NOT NULL,
  surface TEXT NOT NULL,
  author  TEXT NOT NULL,
  thread  TEXT NOT NULL,
  at      REAL NOT NULL,
  PRIMARY KEY (gana, key)
) WITHOUT ROWID;
CREATE INDEX answered_by_time ON answered (gana, at, run);
CREATE INDEX answered_by_author ON answered (gana, author, at, run);
CREATE INDEX answered_by_thread ON answered (gana, thread, run);
CREATE INDEX answered_elsewhere ON answered (gana) WHERE run IS NULL;
CREATE TABLE held (
  gana    TEXT NOT NULL,
  note_id TEXT NOT NULL,
  reason  TEXT NOT NULL,
  setting TEXT NOT NULL,
  at      REAL NOT NULL,
  PRIMARY KEY (gana, note_id)
) WITHOUT ROWID;
CREATE TABLE retries (
  gana       TEXT NOT NULL,
  key        TEXT NOT NULL,
  surface    TEXT NOT NULL,
  attempts   INTEGER NOT NULL,
  not_before REAL NOT NULL,
  reason     TEXT NOT NULL,
  at         REAL NOT NULL,
  PRIMARY KEY (gana, key)
) WITHOUT ROWID;
CREATE TABLE mutes (
  gana    TEXT NOT NULL,
  author  TEXT NOT NULL,
  note_id TEXT NOT NULL,
  at      REAL NOT NULL,
  PRIMARY KEY (gana, author)
) WITHOUT ROWID;

-- Owner: publishing -------------------------------------------------------------------------------------
CREATE TABLE outbox (
  event_id TEXT PRIMARY KEY,
  gana     TEXT NOT NULL,
  author   TEXT NOT NULL,
  run      INTEGER,
  raw      BLOB NOT NULL,
  at       REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE receipts (
  event_id TEXT NOT NULL,
  relay    TEXT NOT NULL,
  fate     TEXT NOT NULL DEFAULT 'waiting',
  message  TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at  REAL,
  at       REAL,
  PRIMARY KEY (event_id, relay)
) WITHOUT ROWID;
CREATE INDEX receipts_due ON receipts (next_at) WHERE next_at IS NOT NULL;

-- Owner: journal ----------------------------------------------------------------------------------------
CREATE TABLE runs (
  run        INTEGER PRIMARY KEY AUTOINCREMENT,
  gana       TEXT NOT NULL,
  surface    TEXT NOT NULL,
  mode       TEXT NOT NULL,
  keys       TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  ending     TEXT NOT NULL,
  reason     TEXT NOT NULL,
  body       TEXT,
  event_id   TEXT,
  started_at REAL NOT NULL,
  ended_at   REAL NOT NULL
);
CREATE INDEX runs_by_gana ON runs (gana, run);
CREATE TABLE steps (
  run              INTEGER NOT NULL,
  round            INTEGER NOT NULL,
  model            TEXT NOT NULL,
  text             TEXT NOT NULL,
  note             TEXT NOT NULL,
  prompt_tokens    INTEGER NOT NULL,
  reused_tokens    INTEGER NOT NULL,
  evaluated_tokens INTEGER NOT NULL,
  generated_tokens INTEGER NOT NULL,
  seconds          REAL NOT NULL,
  PRIMARY KEY (run, round)
) WITHOUT ROWID;
CREATE TABLE dead_letters (
  letter  INTEGER PRIMARY KEY AUTOINCREMENT,
  kind    TEXT NOT NULL,
  gana    TEXT NOT NULL,
  surface TEXT NOT NULL,
  key     TEXT NOT NULL,
  reason  TEXT NOT NULL,
  at      REAL NOT NULL,
  UNIQUE (kind, gana, key)
);
