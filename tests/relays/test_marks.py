from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.database.store import Store
from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.marks import StoreMarks, key_of


async def test_marks_survive_a_restart_and_are_per_relay_and_filter(tmp_path: Path) -> None:
    async with Store(tmp_path / "store.db") as store:
        marks = StoreMarks(store)
        await marks.set("ws://a", ["k", "l"], 100)
        await marks.set("ws://a", ["k"], 200)
        await marks.set("ws://b", ["k"], 300)
    async with Store(tmp_path / "store.db") as store:
        marks = StoreMarks(store)
        assert await marks.get("ws://a", ["k", "l", "m"]) == {"k": 200, "l": 100}
        assert await marks.get("ws://b", ["k", "l"]) == {"k": 300}


@given(st.integers(0, 100), st.integers(0, 100))
def test_the_window_of_a_question_is_no_part_of_its_key(since: int, limit: int) -> None:
    wanted = Filter(kinds=(1,), authors=("ab" * 32,))
    assert key_of(wanted.within(since=since, limit=limit)) == key_of(wanted)
    assert key_of(wanted) != key_of(Filter(kinds=(1,)))
