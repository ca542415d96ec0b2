-- Owner: chat -------------------------------------------------------------------------------------------
CREATE TABLE conversations (
  conversation INTEGER PRIMARY KEY AUTOINCREMENT,
  title        TEXT NOT NULL,
  manas        TEXT NOT NULL DEFAULT '[]',
  at           REAL NOT NULL
);
-- A question that no row answers: its process ended meanwhile.
-- notes: ids of the notes that got a handle for this answer, in the order of the handles, as JSON.
CREATE TABLE messages (
  message      INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation INTEGER NOT NULL,
  answers      INTEGER,
  role         TEXT NOT NULL,
  text         TEXT NOT NULL,
  deep         INTEGER NOT NULL DEFAULT 0,
  state        TEXT NOT NULL DEFAULT '',
  reason       TEXT NOT NULL DEFAULT '',
  model        TEXT NOT NULL DEFAULT '',
  notes        TEXT NOT NULL DEFAULT '[]',
  cited        TEXT NOT NULL DEFAULT '[]',
  at           REAL NOT NULL
);
CREATE INDEX messages_by_conversation ON messages (conversation, message);
CREATE INDEX messages_by_question ON messages (answers) WHERE answers IS NOT NULL;
