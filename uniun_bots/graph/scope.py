"""Scope: which notes a reader may see.

Every reading of notes as knowledge goes through `where`, and whatever a run is shown besides through `in_conversation`,
which `where` is made with.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from uniun_bots.personas.hosted import HostedGana

Condition = tuple[str, list[object]]
"""SQL and its parameters."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The union of what the first five fields name, narrowed by the last four. An empty one holds nothing."""

    manas: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    drafts: bool = False
    everything: bool = False
    """For the owner: Shiv and the command line."""
    audience: str | None = None
    """The one conversation whose private notes come along."""
    by: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """As they are kept: lower case, without `#`."""
    since: int | None = None
    """By `created_at`, in Unix seconds; both ends belong to it."""
    until: int | None = None


def scope_of(hosted: HostedGana, audience: str | None = None) -> Scope:
    """What one Gana may read in a run on the conversation `audience`, None for a public one."""
    if hosted.gana.manas:
        return Scope(manas=hosted.gana.manas, audience=audience)
    own_surface = (hosted.surface,) if hosted.surface else ()
    return Scope(authors=(hosted.pubkey,), surfaces=own_surface, drafts=True, audience=audience)


def in_conversation(audience: str | None) -> Condition:
    """Public notes, and the private ones of this conversation: with `= NULL` none. Over `notes n`."""
    return "(n.audience IS NULL OR n.audience = ?)", [audience]


def where(scope: Scope) -> Condition:
    """A condition over `notes n` that tests one note in a few look-ups, whatever the size of the scope."""
    tests = [_union(scope), *_narrowings(scope)]
    # A note that retention has emptied says nothing any more.
    tests.append(("(n.raw IS NOT NULL OR n.text != '')", []))
    tests.append(("n.deleted = 0", []))
    tests.append(in_conversation(scope.audience))
    return " AND ".join(sql for sql, _ in tests), [value for _, values in tests for value in values]


def from_where(scope: Scope) -> Condition:
    """`FROM … WHERE …` over `notes n`, for whoever reads all notes of a scope: begins with its members."""
    test, parameters = where(scope)
    if scope.everything:
        return f"FROM notes n WHERE {test}", parameters
    members = _members(scope)
    if not members:
        return f"FROM notes n WHERE {test}", parameters
    union = " UNION ".join(sql for sql, _ in members)
    named = [value for _, values in members for value in values]
    return f"FROM ({union}) m CROSS JOIN notes n ON n.seq = m.seq WHERE {test}", named + parameters


def _members(scope: Scope) -> list[Condition]:
    # A note has one author; of the others it may have several.
    named = (
        ("DISTINCT seq FROM manas_notes", "manas", scope.manas),
        ("seq FROM notes", "author", scope.authors),
        ("DISTINCT seq FROM surfaces", "surface", scope.surfaces),
    )
    members: list[Condition] = [
        (f"SELECT {source} WHERE {column} {_in(names)}", [*names]) for source, column, names in named if names
    ]
    # The word itself: the index of drafts is not used for a parameter.
    return [*members, ("SELECT seq FROM notes WHERE origin = 'draft'", [])] if scope.drafts else members


def few_of(tx: sqlite3.Connection, scope: Scope, at_most: int) -> list[int] | None:
    """The arrival numbers that a scope of up to so many notes is drawn from; None when they may be more.

    Told from indexes, without a look at the notes: so there may be some among them that the reader may not see or
    that the scope leaves out. Who finds one of these asks `where` about it.
    """
    members = _members(scope)
    if scope.everything or not members:
        return None
    named = [value for _, values in members for value in values]
    every = " UNION ALL ".join(sql for sql, _ in members)
    if tx.execute(f"SELECT 1 FROM ({every}) LIMIT 1 OFFSET ?", (*named, at_most)).fetchone():  # noqa: S608
        return None
    union = " UNION ".join(sql for sql, _ in members)
    # One value is told in half the time of thousands of rows.
    told = tx.execute(f"SELECT json_group_array(seq) FROM ({union})", named)  # noqa: S608
    seqs: list[int] = json.loads(told.fetchone()[0])
    return seqs


def count(tx: sqlite3.Connection, scope: Scope, at_most: int | None = None) -> int:
    """How many notes the scope holds; with `at_most` it stops counting there."""
    source, parameters = from_where(scope)
    counted = f"SELECT count(*) FROM (SELECT 1 {source} LIMIT ?)"  # noqa: S608
    return int(tx.execute(counted, (*parameters, -1 if at_most is None else at_most)).fetchone()[0])


def _union(scope: Scope) -> Condition:
    if scope.everything:
        return "1", []
    tests: list[Condition] = []
    if scope.manas:
        tests.append((_exists("manas_notes", "manas", scope.manas), [*scope.manas]))
    if scope.authors:
        tests.append((f"n.author {_in(scope.authors)}", [*scope.authors]))
    if scope.surfaces:
        tests.append((_exists("surfaces", "surface", scope.surfaces), [*scope.surfaces]))
    if scope.drafts:
        tests.append(("n.origin = 'draft'", []))
    joined = " OR ".join(sql for sql, _ in tests)
    return f"({joined or 0})", [value for _, values in tests for value in values]


def _narrowings(scope: Scope) -> list[Condition]:
    tests: list[Condition] = []
    if scope.by:
        tests.append((f"n.author {_in(scope.by)}", [*scope.by]))
    if scope.topics:
        tests.append((_exists("topics", "topic", scope.topics), [*scope.topics]))
    if scope.since is not None:
        tests.append(("n.created_at >= ?", [scope.since]))
    if scope.until is not None:
        tests.append(("n.created_at <= ?", [scope.until]))
    return tests


def _exists(table: str, column: str, names: tuple[str, ...]) -> str:
    return f"EXISTS (SELECT 1 FROM {table} x WHERE x.{column} {_in(names)} AND x.seq = n.seq)"  # noqa: S608


def _in(names: tuple[str, ...]) -> str:
    return f"IN ({','.join('?' * len(names))})"
