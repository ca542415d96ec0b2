-- Owner: graph ------------------------------------------------------------------------------------------
-- Vectors are read from their table into memory: no file is derived from it any more.
DROP TRIGGER embedding_goes;
DROP TABLE embeddings_gone;
ALTER TABLE embedders DROP COLUMN stamp;
-- Whether a note has a vector is asked of each that a search finds: an index tells it without the vector itself.
CREATE INDEX embeddings_given ON embeddings (seq, embedder) WHERE vector IS NOT NULL;
