-- Owner: probe ------------------------------------------------------------------------------------------
-- What a model did in one situation, once. `model` is the fingerprint, `shown` changes with what the situation shows.
CREATE TABLE probes (
  model     TEXT NOT NULL,
  shown     TEXT NOT NULL,
  number    INTEGER NOT NULL,
  situation TEXT NOT NULL,
  played    TEXT NOT NULL,
  at        REAL NOT NULL,
  PRIMARY KEY (model, shown, number)
) WITHOUT ROWID;

-- The models, as they were named when they were played last.
CREATE TABLE probed_models (
  model     TEXT PRIMARY KEY,
  reference TEXT NOT NULL,
  facts     TEXT NOT NULL,
  at        REAL NOT NULL
) WITHOUT ROWID;
