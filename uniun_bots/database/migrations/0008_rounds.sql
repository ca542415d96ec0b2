-- Owner: journal. A round of an agentic run: which skill it called, with what, and what came of it.
ALTER TABLE steps ADD COLUMN skill TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN arguments TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN result TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN note_ids TEXT NOT NULL DEFAULT '[]';
ALTER TABLE steps ADD COLUMN executing_ms REAL NOT NULL DEFAULT 0;
CREATE INDEX runs_under_way ON runs (gana) WHERE ending = 'running';
