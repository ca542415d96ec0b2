"""Full-text search: notes of a scope by the words of a question, best first (bm25)."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.graph.scope import Scope, from_where, where
from uniun_bots.graph.words import asked_words
from uniun_bots.nostr.text import clean

MOST_TERMS = 32
COMMON_PART = 0.05
"""A word in more than this part of all notes says little, and ranking all of its notes costs much."""
FEW_NOTES = 3_000
"""But so few notes are ranked in no time, and in a small graph a common word still tells something."""
MOST_RANKED = 3_000
"""Notes ranked for one question: about a microsecond each."""
FIRST_LOOK = 4
SMALL_SCOPE = 2_000


@dataclass(frozen=True, slots=True)
class Term:
    phrase: str
    """As FTS5 takes it: quoted, so that nothing in a question is ever syntax."""
    notes: int
    """Not counted beyond what makes it a common one."""


def by_words(tx: sqlite3.Connection, question: str, scope: Scope, limit: int) -> list[int]:
    """Arrival numbers, the best first. Empty when no word of the question stands in a note of the scope."""
    asked = telling(tx, _phrases(question))
    match = _match(tx, asked)
    if not match:
        return _newest(tx, asked[0].phrase, scope, limit) if asked else []
    ranked = _best(tx, match, MOST_RANKED)
    first = ranked[: FIRST_LOOK * limit]
    allowed = within(tx, first, scope)
    found = [seq for seq in first if seq in allowed]
    if len(found) < limit and len(ranked) > len(first):
        allowed = _within_all(tx, ranked, scope)
        found = [seq for seq in ranked if seq in allowed]
    return found[:limit]


def telling(tx: sqlite3.Connection, phrases: Sequence[str]) -> list[Term]:
    """The words that occur, the rarest first, without common ones where there are rarer ones."""
    counted = [Term(phrase, _count(tx, phrase)) for phrase in phrases]
    occurring = sorted((term for term in counted if term.notes), key=lambda term: term.notes)
    most = most_of_a_word(tx)
    return [term for term in occurring if term.notes <= most] or occurring[:MOST_TERMS]


def most_of_a_word(tx: sqlite3.Connection) -> int:
    notes = tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]
    return max(FEW_NOTES, int(COMMON_PART * notes))


def _match(tx: sqlite3.Connection, asked: Sequence[Term]) -> str:
    """As many of the rarest words as can be ranked. If not even one can, all together; if that is no use, empty."""
    budget = MOST_RANKED
    chosen: list[str] = []
    for term in asked:
        budget -= term.notes
        if budget < 0:
            break
        chosen.append(term.phrase)
    if chosen:
        return " OR ".join(chosen)
    together = " AND ".join(term.phrase for term in asked)
    return together if len(asked) > 1 and 0 < _count(tx, together) <= MOST_RANKED else ""


def _phrases(question: str) -> list[str]:
    """Its words, each once; a single letter of a script without spaces also finds the words that begin with it."""
    text = asked_words(clean(question))
    spaced = "".join(letter if _is_of_a_word(letter) else " " for letter in text)
    # As they are written: SQLite folds case in its own way, the same for notes and questions.
    found = list({word.lower(): word for word in spaced.split()}.values())[:MOST_TERMS]
    return [f'"{word}"*' if len(word) == 1 and not word.isascii() else f'"{word}"' for word in found]


def _is_of_a_word(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter).startswith("M")


def _count(tx: sqlite3.Connection, match: str) -> int:
    counted = "SELECT count(*) FROM (SELECT 1 FROM notes_text WHERE notes_text MATCH ? LIMIT ?)"
    return int(tx.execute(counted, (match, _counted_to(tx))).fetchone()[0])


def _counted_to(tx: sqlite3.Connection) -> int:
    return max(MOST_RANKED, most_of_a_word(tx)) + 1


def _best(tx: sqlite3.Connection, match: str, limit: int) -> list[int]:
    found = "SELECT rowid FROM notes_text WHERE notes_text MATCH ? ORDER BY rank LIMIT ?"
    return [row[0] for row in tx.execute(found, (match, limit))]


def _newest(tx: sqlite3.Connection, phrase: str, scope: Scope, limit: int) -> list[int]:
    """One word that stands everywhere ranks nothing: then the newest notes are as good as any."""
    test, parameters = where(scope)
    rows = tx.execute(
        "SELECT f.rowid FROM notes_text f CROSS JOIN notes n ON n.seq = f.rowid"  # noqa: S608
        f" WHERE f.notes_text MATCH ? AND {test} ORDER BY f.rowid DESC LIMIT ?",
        (phrase, *parameters, limit),
    )
    return [row[0] for row in rows]


def _within_all(tx: sqlite3.Connection, seqs: Sequence[int], scope: Scope) -> set[int]:
    """A small scope is read whole; a large one is asked about each of them."""
    source, parameters = from_where(scope)
    rows = tx.execute(f"SELECT n.seq {source} LIMIT ?", (*parameters, SMALL_SCOPE + 1)).fetchall()
    return {row[0] for row in rows} if len(rows) <= SMALL_SCOPE else within(tx, seqs, scope)


def within(tx: sqlite3.Connection, seqs: Sequence[int], scope: Scope) -> set[int]:
    """Those of them that the scope holds."""
    test, parameters = where(scope)
    rows = tx.execute(
        f"SELECT n.seq FROM json_each(?) j CROSS JOIN notes n ON n.seq = j.value WHERE {test}",  # noqa: S608
        (str(list(seqs)), *parameters),
    )
    return {row[0] for row in rows}
