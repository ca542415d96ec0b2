"""Whatever is searched, however: private notes stay in their conversation, and what was deleted stays away."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import ALICE, BOB, NOW, event, heard
from tests.graph.library import EVERYTHING, embed_all, keep_texts, near, vectors_over
from tests.stores import store as store
from tests.stores import tx as tx
from tests.stores import undone
from uniun_bots.database.store import Store
from uniun_bots.graph.by_words import by_words, within
from uniun_bots.graph.keep import keep
from uniun_bots.graph.scope import Scope, few_of
from uniun_bots.graph.search import search
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

CONVERSATIONS = st.sampled_from([None, "dm:one", "dm:two"])
NOTES = st.lists(
    st.tuples(st.sampled_from(["tide", "moon", "tide and moon", "潮汐"]), CONVERSATIONS, st.booleans()),
    min_size=1,
    max_size=12,
)
SCOPES = st.builds(
    Scope,
    authors=st.sampled_from([(), (ALICE,), (ALICE, BOB)]),
    everything=st.booleans(),
    audience=CONVERSATIONS,
    by=st.sampled_from([(), (BOB,)]),
    since=st.sampled_from([None, NOW + 3]),
)


def learn(tx: sqlite3.Connection, notes: list[tuple[str, str | None, bool]]) -> None:
    for place, (text, audience, deleted) in enumerate(notes):
        one = event(f"{text} {place}", author=BOB if place % 2 else ALICE, at=NOW + place)
        keep(tx, heard(one))
        tx.execute("UPDATE notes SET audience = ?, deleted = ? WHERE id = ?", (audience, deleted, one.id))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(notes=NOTES, scope=SCOPES, question=st.sampled_from(["tide", "moon tide", "潮", "3"]))
def test_words_find_nothing_that_the_scope_does_not_hold(
    tx: sqlite3.Connection, notes: list[tuple[str, str | None, bool]], scope: Scope, question: str
) -> None:
    with undone(tx):
        learn(tx, notes)
        found = by_words(tx, question, scope, 20, few_of(tx, scope, 100))
        assert set(found) == set(by_words(tx, question, scope, 20))
        assert set(found) <= within(tx, found, scope)
        for seq in found:
            row = tx.execute("SELECT audience, deleted FROM notes WHERE seq = ?", (seq,)).fetchone()
            assert row["audience"] in (None, scope.audience)
            assert not row["deleted"]


async def test_meaning_finds_nothing_private_outside_of_its_conversation(
    store: Store, tmp_path: Path
) -> None:
    await keep_texts(store, "a tide for all", "a tide for us two", "a tide for others")
    await store.write(lambda tx: tx.execute("UPDATE notes SET audience = 'dm:one' WHERE seq = 2"))
    await store.write(lambda tx: tx.execute("UPDATE notes SET audience = 'dm:two' WHERE seq = 3"))
    embedder = ScriptedEmbedder()
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)

    async def found(scope: Scope) -> set[int]:
        by_meaning = {one.seq for one in await near(vectors, "tide", scope, 9)}
        assert {hit.note.seq for hit in await search(store, vectors, "tide", scope, 9)} == by_meaning
        return by_meaning

    assert await found(EVERYTHING) == {1}
    assert await found(Scope(everything=True, audience="dm:one")) == {1, 2}
    assert await found(Scope(authors=(ALICE,), audience="dm:two")) == {1, 3}
    await vectors.aclose()
