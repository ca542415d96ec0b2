-- Owner: graph ------------------------------------------------------------------------------------------
-- A memory is a short summary of one note, made by a model and checked. Its note is where it is from.
CREATE TABLE memories (
  seq   INTEGER PRIMARY KEY,
  text  TEXT NOT NULL,
  model TEXT NOT NULL,
  at    REAL NOT NULL
);
-- Notes that wait for a memory. not_before NULL: given up, for the reason that stands beside it.
CREATE TABLE extractions (
  seq        INTEGER PRIMARY KEY,
  attempts   INTEGER NOT NULL DEFAULT 0,
  not_before REAL DEFAULT 0,
  reason     TEXT NOT NULL DEFAULT ''
);
CREATE INDEX extractions_due ON extractions (not_before) WHERE not_before IS NOT NULL;
-- How far notes have been looked at for the queue; it stands still while memories are off.
CREATE TABLE extract_mark (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
INSERT INTO extract_mark VALUES (1, 0);
-- Whoever deletes, empties or rewrites a note need not know of memories: what was made of the old text goes.
CREATE TRIGGER memories_follow_notes AFTER UPDATE OF text, deleted ON notes
WHEN new.deleted != old.deleted OR new.text != old.text
BEGIN
  DELETE FROM memories WHERE seq = new.seq;
  DELETE FROM extractions WHERE seq = new.seq;
  INSERT INTO extractions (seq) SELECT new.seq
    WHERE new.deleted = 0 AND length(CAST(new.text AS BLOB)) >= 280
      AND new.seq <= (SELECT seq FROM extract_mark);
END;
-- The topics of one note: to expand it, and to empty it.
CREATE INDEX topics_by_seq ON topics (seq);

-- Owner: journal ----------------------------------------------------------------------------------------
-- Ids of the notes that a run was shown as knowledge, as JSON.
ALTER TABLE runs ADD COLUMN knowledge TEXT NOT NULL DEFAULT '[]';
