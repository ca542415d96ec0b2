-- What a round's time went into. `seconds` is the engine's part of it.
ALTER TABLE steps ADD COLUMN waiting_ms REAL NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN prompt_ms REAL NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN generating_ms REAL NOT NULL DEFAULT 0;
