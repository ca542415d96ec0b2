-- Owner: graph ------------------------------------------------------------------------------------------
-- Who may read a note, without the note itself: 10,000 of these are a few pages, 10,000 notes are as many reads.
CREATE INDEX notes_by_seq ON notes (seq, audience, deleted);
