from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.runs.values import note
from uniun_bots.context.packing import BETWEEN, Costs, pack
from uniun_bots.graph.note import Note
from uniun_bots.inference.request import Message
from uniun_bots.inference.scripted import ScriptedEngine


class Counting(ScriptedEngine):
    """One token for each character, and 10 for each message."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: list[str] = []

    async def count(self, messages: Sequence[Message]) -> int:
        self.counted += [message.content for message in messages]
        return sum(10 + len(message.content) for message in messages)


async def packed(room: int, *sizes: int, costs: Costs | None = None) -> list[int]:
    notes = [note(number, "x" * size) for number, size in enumerate(sizes)]
    found = await pack(
        notes, lambda one: one.text, room, model="m", engine=Counting(), costs=costs or Costs()
    )
    return [len(one.text) for one in found]


async def test_what_does_not_fit_is_passed_over_and_a_smaller_one_behind_it_fits() -> None:
    assert await packed(100 + 2 * BETWEEN, 60, 70, 40, 1) == [60, 40]
    assert await packed(0, 1) == await packed(-5, 1) == []


@given(st.integers(0, 300), st.lists(st.integers(0, 120), max_size=12))
async def test_the_sum_never_exceeds_the_room_and_nothing_that_fits_is_left_out(
    room: int, sizes: list[int]
) -> None:
    expected, left = [], room
    for size in sizes:
        if size + BETWEEN <= left:
            expected.append(size)
            left -= size + BETWEEN
    assert await packed(room, *sizes) == expected


async def test_each_note_is_counted_once_for_each_model() -> None:
    engine, costs = Counting(), Costs()
    notes = [note(1, "one"), note(2, "two")]
    rewritten = replace(notes[0], seq=3, text="eno")  # a draft: the same id, and another arrival

    async def go(given_notes: Sequence[Note], model: str) -> None:
        await pack(given_notes, lambda one: one.text, 99, model=model, engine=engine, costs=costs)

    await go(notes, "m")
    counted = len(engine.counted)
    await go(notes, "m")
    assert len(engine.counted) == counted
    await go([rewritten], "m")
    await go([note(2, "two")], "another")
    assert engine.counted[counted:] == ["", "eno", "", "two"]


async def test_a_giant_note_is_passed_over_without_being_counted() -> None:
    engine = Counting()
    giant = note(1, "x" * 1_000_000)
    assert await pack([giant], lambda one: one.text, 500, model="m", engine=engine, costs=Costs()) == ()
    assert engine.counted == []
