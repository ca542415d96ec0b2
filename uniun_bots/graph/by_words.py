"""Full-text search: notes of a scope by the words of a question, best first (bm25)."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.graph.scope import Scope, where
from uniun_bots.graph.words import asked_words
from uniun_bots.nostr.text import clean

MOST_TERMS = 32
COMMON_PART = 0.05
"""A word in more than this part of all notes says little, and ranking all of its notes costs much."""
FEW_NOTES = 5_000
"""But so few notes are ranked in no time, and in a small graph a common word still tells something."""
MOST_RANKED = 60_000
"""Notes ranked for one question, its rarest words first."""
FIRST_LOOK = 4


@dataclass(frozen=True, slots=True)
class Term:
    phrase: str
    """As FTS5 takes it: quoted, so that nothing in a question is ever syntax."""
    notes: int


def by_words(tx: sqlite3.Connection, question: str, scope: Scope, limit: int) -> list[int]:
    """Arrival numbers, the best first. Empty when no word of the question stands in a note of the scope."""
    asked = telling(tx, _phrases(question))
    if not asked:
        return []
    most = most_ranked(tx)
    if len(asked) == 1 and asked[0].notes > most:
        return _newest(tx, asked[0].phrase, scope, limit)
    match = " OR ".join(term.phrase for term in asked)
    ranked = _best(tx, match, FIRST_LOOK * limit)
    found = _within(tx, ranked, scope, limit)
    if len(found) < limit and len(ranked) == FIRST_LOOK * limit:
        found = _best_within(tx, match, scope, limit)
    return found


def telling(tx: sqlite3.Connection, phrases: Sequence[str]) -> list[Term]:
    """The words that decide: those that occur, without common ones where there are rarer ones."""
    most = most_ranked(tx)
    counted = [Term(phrase, _count(tx, phrase, most + 1)) for phrase in phrases]
    occurring = sorted((term for term in counted if term.notes), key=lambda term: term.notes)
    kept = [term for term in occurring if term.notes <= most] or occurring[:1]
    budget = MOST_RANKED
    chosen: list[Term] = []
    for term in kept:
        budget -= term.notes
        if chosen and budget < 0:
            break
        chosen.append(term)
    return chosen


def most_ranked(tx: sqlite3.Connection) -> int:
    notes = tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]
    return max(FEW_NOTES, int(COMMON_PART * notes))


def _phrases(question: str) -> list[str]:
    """Its words, each once; a single letter of a script without spaces also finds the words that begin with it."""
    text = asked_words(clean(question))
    spaced = "".join(letter if _is_of_a_word(letter) else " " for letter in text)
    # As they are written: SQLite folds case in its own way, the same for notes and questions.
    found = list({word.lower(): word for word in spaced.split()}.values())[:MOST_TERMS]
    return [f'"{word}"*' if len(word) == 1 and not word.isascii() else f'"{word}"' for word in found]


def _is_of_a_word(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter).startswith("M")


def _count(tx: sqlite3.Connection, phrase: str, at_most: int) -> int:
    counted = "SELECT count(*) FROM (SELECT 1 FROM notes_text WHERE notes_text MATCH ? LIMIT ?)"
    return int(tx.execute(counted, (phrase, at_most)).fetchone()[0])


def _best(tx: sqlite3.Connection, match: str, limit: int) -> list[int]:
    found = "SELECT rowid FROM notes_text WHERE notes_text MATCH ? ORDER BY rank LIMIT ?"
    return [row[0] for row in tx.execute(found, (match, limit))]


def _best_within(tx: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[int]:
    """All that match, held against the scope one by one."""
    test, parameters = where(scope)
    rows = tx.execute(
        "SELECT f.rowid FROM notes_text f CROSS JOIN notes n ON n.seq = f.rowid"  # noqa: S608
        f" WHERE f.notes_text MATCH ? AND {test} ORDER BY f.rank LIMIT ?",
        (match, *parameters, limit),
    )
    return [row[0] for row in rows]


def _newest(tx: sqlite3.Connection, phrase: str, scope: Scope, limit: int) -> list[int]:
    """One word that stands everywhere ranks nothing: then the newest notes are as good as any."""
    test, parameters = where(scope)
    rows = tx.execute(
        "SELECT f.rowid FROM notes_text f CROSS JOIN notes n ON n.seq = f.rowid"  # noqa: S608
        f" WHERE f.notes_text MATCH ? AND {test} ORDER BY f.rowid DESC LIMIT ?",
        (phrase, *parameters, limit),
    )
    return [row[0] for row in rows]


def _within(tx: sqlite3.Connection, ranked: Sequence[int], scope: Scope, limit: int) -> list[int]:
    allowed = within(tx, ranked, scope)
    return [seq for seq in ranked if seq in allowed][:limit]


def within(tx: sqlite3.Connection, seqs: Sequence[int], scope: Scope) -> set[int]:
    """Those of them that the scope holds."""
    test, parameters = where(scope)
    rows = tx.execute(
        f"SELECT n.seq FROM json_each(?) j CROSS JOIN notes n ON n.seq = j.value WHERE {test}",  # noqa: S608
        (str(list(seqs)), *parameters),
    )
    return {row[0] for row in rows}
