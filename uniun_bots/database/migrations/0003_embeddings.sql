-- Owner: graph ------------------------------------------------------------------------------------------
-- Each embedder that was ever asked: two of one name and one width differ by the vector of one fixed text.
CREATE TABLE embedders (
  embedder INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT NOT NULL,
  width    INTEGER NOT NULL,
  probe    BLOB NOT NULL,
  stamp    TEXT NOT NULL,
  upto     INTEGER NOT NULL DEFAULT 0
);
-- The truth that every index file is derived from. A vector of NULL: the embedder gave none for this note.
-- change counts up and is never given twice, so an index that has read up to one knows what it lacks.
CREATE TABLE embeddings (
  change   INTEGER PRIMARY KEY AUTOINCREMENT,
  embedder INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  vector   BLOB,
  UNIQUE (seq, embedder)
);
CREATE INDEX embeddings_refused ON embeddings (embedder) WHERE vector IS NULL;
CREATE TABLE embeddings_gone (
  change   INTEGER PRIMARY KEY AUTOINCREMENT,
  embedder INTEGER NOT NULL,
  seq      INTEGER NOT NULL
);
CREATE TRIGGER embedding_goes AFTER DELETE ON embeddings WHEN old.vector IS NOT NULL BEGIN
  INSERT INTO embeddings_gone (embedder, seq) VALUES (old.embedder, old.seq);
END;
-- Whoever changes or deletes a note need not know of vectors: the old one goes, and the new text waits for its own.
CREATE TRIGGER note_changes AFTER UPDATE OF text, deleted ON notes
WHEN new.text IS NOT old.text OR new.deleted IS NOT old.deleted BEGIN
  DELETE FROM embeddings WHERE seq = old.seq;
  UPDATE embedders SET upto = old.seq - 1 WHERE upto >= old.seq AND new.deleted = 0 AND new.text != '';
END;
CREATE INDEX notes_by_date ON notes (created_at);
