from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    CAROL,
    CHANNEL,
    GROUP,
    MENTIONS,
    NOW,
    RELAY,
    event,
    gana,
    hosted,
    message,
)
from tests.stores import undone
from uniun_bots.graph.find import COLUMNS
from uniun_bots.graph.keep import keep_note
from uniun_bots.graph.manas import Rule, set_manas
from uniun_bots.graph.retention import prune_notes
from uniun_bots.graph.scope import Scope, count, few_of, from_where, scope_of, where
from uniun_bots.nostr.event import Event
from uniun_bots.personas.hosted import HostedGana

WHISPER, OTHER_WHISPER = f"dm:{BOT}:{ALICE}", f"dm:{BOT}:{BOB}"
PEOPLE = [ALICE, BOB, CAROL]
TOPICS = ["tide", "wind"]
MANAS = ["harbour", "lessons"]


@dataclass(frozen=True)
class Written:
    """A note as the property draws it, and as a dumb reader looks at it."""

    author: str
    topics: tuple[str, ...]
    on_group: bool
    draft: bool
    deleted: bool
    audience: str | None
    manas: frozenset[str]
    at: int

    def is_in(self, scope: Scope) -> bool:
        named = (
            scope.everything
            or bool(self.manas & set(scope.manas))
            or self.author in scope.authors
            or (GROUP in scope.surfaces and self.on_group)
            or (scope.drafts and self.draft)
        )
        narrowed = (
            (not scope.by or self.author in scope.by)
            and (not scope.topics or bool(set(self.topics) & set(scope.topics)))
            and (scope.since is None or self.at >= scope.since)
            and (scope.until is None or self.at <= scope.until)
        )
        readable = not self.deleted and self.audience in (None, scope.audience)
        return named and narrowed and readable


def subsets(of: Collection[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sets(st.sampled_from(sorted(of))).map(lambda found: tuple(sorted(found)))


audiences = st.sampled_from([None, WHISPER, OTHER_WHISPER])
seconds = st.integers(NOW, NOW + 9)
notes = st.builds(
    Written,
    author=st.sampled_from(PEOPLE),
    topics=subsets(TOPICS),
    on_group=st.booleans(),
    draft=st.booleans(),
    deleted=st.booleans(),
    audience=audiences,
    manas=subsets(MANAS).map(frozenset),
    at=seconds,
)
scopes = st.builds(
    Scope,
    manas=subsets(MANAS),
    authors=subsets(PEOPLE),
    surfaces=subsets([GROUP, MENTIONS]),
    drafts=st.booleans(),
    everything=st.booleans(),
    audience=audiences,
    by=subsets(PEOPLE),
    topics=subsets(TOPICS),
    since=st.none() | seconds,
    until=st.none() | seconds,
)


def keep_as(tx: sqlite3.Connection, written: Written, number: int) -> int:
    tags = [["t", topic] for topic in written.topics]
    if written.on_group:
        tags.append(["e", CHANNEL, "", "root"])
    one = event(f"n{number}", *tags, author=written.author, kind=42 if written.on_group else 1, at=written.at)
    seq = keep_note(tx, one, "draft" if written.draft else "relay", NOW)
    assert seq is not None
    change = "UPDATE notes SET audience = ?, deleted = ? WHERE seq = ?"
    tx.execute(change, (written.audience, int(written.deleted), seq))
    return seq


def ids(tx: sqlite3.Connection, written: list[Written]) -> dict[int, Written]:
    return {keep_as(tx, one, number): one for number, one in enumerate(written)}


def read(tx: sqlite3.Connection, scope: Scope) -> list[int]:
    """All ways of reading a scope, which must agree."""
    test, parameters = where(scope)
    rows = tx.execute(f"SELECT n.seq FROM notes n WHERE {test} ORDER BY 1", parameters)  # noqa: S608
    tested = [row[0] for row in rows]
    source, parameters = from_where(scope)
    driven = [row[0] for row in tx.execute(f"SELECT n.seq {source} ORDER BY 1", parameters)]
    assert tested == driven
    few = few_of(tx, scope, 99)
    assert few is None or set(tested) <= set(few)
    return tested


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(notes, max_size=8), scopes)
def test_private_notes_never_come_back_outside_their_conversation(
    tx: sqlite3.Connection, written: list[Written], scope: Scope
) -> None:
    """And the rest is what a reader with much time would pick."""
    with undone(tx):
        kept = ids(tx, written)
        for name in MANAS:
            rows = [(name, seq) for seq, one in kept.items() if name in one.manas]
            tx.executemany("INSERT INTO manas_notes (manas, seq) VALUES (?, ?)", rows)
        found = read(tx, scope)
        assert found == [seq for seq, one in kept.items() if one.is_in(scope)]
        assert {kept[seq].audience for seq in found} <= {None, scope.audience}
        assert count(tx, scope) == len(found)
        assert count(tx, scope, at_most=2) == min(2, len(found))


def test_a_scope_that_may_hold_more_than_a_few_is_not_told_as_few(tx: sqlite3.Connection) -> None:
    keep_texts(tx, *(event(f"{n}", author=BOB, at=NOW + n) for n in range(4)))
    assert few_of(tx, Scope(authors=(BOB,)), 4) == [1, 2, 3, 4]
    assert few_of(tx, Scope(authors=(BOB,)), 3) is None
    assert few_of(tx, Scope(everything=True), 99) is None


def test_few_notes_are_told_without_a_look_at_the_notes(tx: sqlite3.Connection) -> None:
    steps: list[str] = []
    tx.set_trace_callback(steps.append)
    few_of(tx, Scope(manas=("harbour",), authors=(BOB,), surfaces=(GROUP,), drafts=True), 9)
    tx.set_trace_callback(None)
    plan = [row["detail"] for row in tx.execute(f"EXPLAIN QUERY PLAN {steps[-1]}")]
    tables = ("manas_notes", "notes", "surfaces")
    read = [step for step in plan if step.split()[1] in tables]
    assert len(read) == 4
    assert all(" COVERING INDEX " in step or "USING PRIMARY KEY" in step for step in read), read


def text_of(tx: sqlite3.Connection, scope: Scope) -> set[str]:
    source, parameters = from_where(scope)
    return {row["text"] for row in tx.execute(f"SELECT {COLUMNS} {source}", parameters)}


def keep_texts(tx: sqlite3.Connection, *events: Event) -> None:
    for one in events:
        keep_note(tx, one, "relay", NOW)


def test_a_gana_without_a_manas_reads_its_own_notes_drafts_and_surface_and_no_strangers(
    tx: sqlite3.Connection,
) -> None:
    keep_texts(tx, event("mine", author=BOT), message("in my group"), event("by a stranger", author=CAROL))
    keep_note(tx, event("a draft", author=CAROL), "draft", NOW)
    assert text_of(tx, scope_of(hosted())) == {"mine", "in my group", "a draft"}


def test_a_gana_with_a_manas_reads_its_members_and_nothing_else(tx: sqlite3.Connection) -> None:
    set_manas(tx, "harbour", "", [Rule("author", CAROL)])
    keep_texts(tx, event("mine", author=BOT), message("in my group"), event("by carol", author=CAROL))
    assert text_of(tx, scope_of(hosted(gana(manas=["harbour"])))) == {"by carol"}


def test_a_standalone_gana_has_no_surface_to_read(tx: sqlite3.Connection) -> None:
    alone = HostedGana(gana(), BOT, None, (RELAY,), (RELAY,))
    keep_texts(tx, event("mine", author=BOT), message("in a group"))
    assert text_of(tx, scope_of(alone)) == {"mine"}


def test_nothing_named_is_nothing_read(tx: sqlite3.Connection) -> None:
    keep_texts(tx, event("a"), message("b"))
    assert read(tx, Scope()) == []
    assert read(tx, Scope(by=(ALICE,))) == [], "narrowing names nothing"
    assert len(read(tx, Scope(everything=True))) == 2


def test_what_retention_emptied_says_nothing(tx: sqlite3.Connection) -> None:
    keep_texts(tx, event("old"))
    prune_notes(tx, NOW + 1)
    assert read(tx, Scope(everything=True)) == []
