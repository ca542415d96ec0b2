-- Owner: graph ------------------------------------------------------------------------------------------
-- What the Manas files name, as rows, so that a note that comes later finds its Manas by itself.
CREATE TABLE manas (manas TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
-- rule: note, author, topic, group or address; excluded = 1: never a member, whatever else names it.
CREATE TABLE manas_rules (
  manas    TEXT NOT NULL,
  rule     TEXT NOT NULL,
  value    TEXT NOT NULL,
  excluded INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (rule, value, manas, excluded)
) WITHOUT ROWID;
CREATE INDEX manas_rules_by_manas ON manas_rules (manas);
-- Membership is a pointer, and follows from the rules.
CREATE TABLE manas_notes (manas TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (manas, seq)) WITHOUT ROWID;
CREATE INDEX manas_notes_by_seq ON manas_notes (seq);
-- Every version of a note under an address (kind:author:d) that is known here.
CREATE TABLE addresses (address TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (address, seq)) WITHOUT ROWID;
CREATE INDEX addresses_by_seq ON addresses (seq);
-- NIP-09 by address: versions up to this second are gone, those that come later too.
CREATE TABLE address_deletions (address TEXT PRIMARY KEY, upto INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX notes_drafts ON notes (origin) WHERE origin = 'draft';
-- Local files that are notes.
CREATE TABLE drafts (
  path   TEXT PRIMARY KEY,
  id     TEXT NOT NULL,
  digest TEXT NOT NULL
) WITHOUT ROWID;
-- Imports that are not through: everything before `offset` is kept; `tail` tells the file again.
CREATE TABLE imports (
  file   TEXT PRIMARY KEY,
  offset INTEGER NOT NULL,
  line   INTEGER NOT NULL,
  tail   TEXT NOT NULL
) WITHOUT ROWID;
