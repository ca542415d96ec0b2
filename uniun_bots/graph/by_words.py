"""Full-text search: notes of a scope by the words of a question, best first (bm25)."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from uniun_bots.graph.scope import Scope, where
from uniun_bots.graph.words import asked_words
from uniun_bots.nostr.text import clean

MOST_TERMS = 32
COMMON_PART = 0.05
"""A word in more than this part of all notes says little, and ranking all of its notes costs much."""
MOST_RANKED = 2_000
"""Notes ranked for one question, about two microseconds each. In a small graph no word is more common than that."""
FIRST_LOOK = 3
"""Times as many as are wanted: in a scope of half of all notes that is enough."""


@dataclass(frozen=True, slots=True)
class Term:
    phrase: str
    """As FTS5 takes it: quoted, so that nothing in a question is ever syntax."""
    notes: int
    """Not counted beyond what makes it too common."""


def by_words(
    tx: sqlite3.Connection, question: str, scope: Scope, limit: int, few: Sequence[int] | None = None
) -> list[int]:
    """Arrival numbers, the best first. Empty when no word of the question stands in a note of the scope.

    `few`: what `few_of` says of the scope.
    """
    phrases = _phrases(question)
    match = _match(tx, phrases)
    if match:
        return _allowed(tx, _best(tx, match), scope, limit, few)
    rarest = telling(tx, phrases, _most_of_a_word(tx))[:1]
    return [seq for term in rarest for seq in _newest(tx, term.phrase, scope, limit, few)]


def telling(tx: sqlite3.Connection, phrases: Sequence[str], most: int) -> list[Term]:
    """The words that occur, the rarest first, without those in more notes than `most` where there are rarer ones."""
    counted = [Term(phrase, _count(tx, phrase, most + 1)) for phrase in phrases]
    occurring = sorted((term for term in counted if term.notes), key=lambda term: term.notes)
    return [term for term in occurring if term.notes <= most] or occurring


def _most_of_a_word(tx: sqlite3.Connection) -> int:
    notes = tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]
    return max(MOST_RANKED, int(COMMON_PART * notes))


def _match(tx: sqlite3.Connection, phrases: Sequence[str]) -> str:
    """As many of the rarest words as can be ranked. If not even one can, all together; if that is no use, empty."""
    budget = MOST_RANKED
    chosen: list[str] = []
    for term in telling(tx, phrases, MOST_RANKED):
        budget -= term.notes
        if budget < 0:
            break
        chosen.append(term.phrase)
    return " OR ".join(chosen) if chosen else _together(tx, phrases)


def _together(tx: sqlite3.Connection, phrases: Sequence[str]) -> str:
    asked = [term.phrase for term in telling(tx, phrases, _most_of_a_word(tx))]
    together = " AND ".join(asked)
    return together if len(asked) > 1 and 0 < _count(tx, together, MOST_RANKED + 1) <= MOST_RANKED else ""


def _phrases(question: str) -> list[str]:
    """Its words, each once; a single letter of a script without spaces also finds the words that begin with it."""
    text = asked_words(clean(question))
    spaced = "".join(letter if _is_of_a_word(letter) else " " for letter in text)
    # As they are written: SQLite folds case in its own way, the same for notes and questions.
    found = list({word.lower(): word for word in spaced.split()}.values())[:MOST_TERMS]
    return [f'"{word}"*' if len(word) == 1 and not word.isascii() else f'"{word}"' for word in found]


def _is_of_a_word(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter).startswith("M")


def _count(tx: sqlite3.Connection, match: str, at_most: int) -> int:
    counted = "SELECT count(*) FROM (SELECT 1 FROM notes_text WHERE notes_text MATCH ? LIMIT ?)"
    return int(tx.execute(counted, (match, at_most)).fetchone()[0])


def _best(tx: sqlite3.Connection, match: str) -> Iterator[int]:
    """Ranked at once, read as far as they are wanted."""
    found = "SELECT rowid FROM notes_text WHERE notes_text MATCH ? ORDER BY rank LIMIT ?"
    return (row[0] for row in tx.execute(found, (match, MOST_RANKED)))


def _allowed(
    tx: sqlite3.Connection, ranked: Iterator[int], scope: Scope, limit: int, few: Sequence[int] | None
) -> list[int]:
    """Those of the scope. Most often the first ones hold enough of them."""
    if few is not None:
        members = set(few)
        ranked = (seq for seq in ranked if seq in members)
    first = limit + limit // 4 if scope.everything or few is not None else FIRST_LOOK * limit
    found: list[int] = []
    for portion in (first, 3 * first, MOST_RANKED):
        some = list(islice(ranked, portion))
        allowed = within(tx, some, scope)
        found += [seq for seq in some if seq in allowed]
        if len(found) >= limit or len(some) < portion:
            break
    return found[:limit]


def _newest(
    tx: sqlite3.Connection, phrase: str, scope: Scope, limit: int, few: Sequence[int] | None
) -> list[int]:
    """One word that stands everywhere ranks nothing: then the newest notes are as good as any."""
    if few is not None:
        rows = tx.execute(
            "SELECT rowid FROM notes_text WHERE notes_text MATCH ? ORDER BY rowid DESC", (phrase,)
        )
        return _allowed(tx, (row[0] for row in rows), scope, limit, few)
    test, parameters = where(scope)
    rows = tx.execute(
        "SELECT f.rowid FROM notes_text f CROSS JOIN notes n ON n.seq = f.rowid"  # noqa: S608
        f" WHERE f.notes_text MATCH ? AND {test} ORDER BY f.rowid DESC LIMIT ?",
        (phrase, *parameters, limit),
    )
    return [row[0] for row in rows]


def within(tx: sqlite3.Connection, seqs: Sequence[int], scope: Scope) -> set[int]:
    """Those of them that the scope holds."""
    test, parameters = where(scope)
    rows = tx.execute(
        f"SELECT n.seq FROM json_each(?) j CROSS JOIN notes n ON n.seq = j.value WHERE {test}",  # noqa: S608
        (str(list(seqs)), *parameters),
    )
    return {row[0] for row in rows}
