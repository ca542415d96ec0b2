from __future__ import annotations

from typing import Any

from tests.factory import ALICE, BOB, BOT, CAROL, NOW, deletion, event, message
from tests.skills.scenes import scene
from uniun_bots.database.store import Store


async def test_search_gives_five_notes_with_handle_date_and_preview(store: Store) -> None:
    run = scene(store)
    texts = [f"tide {number}\n\n" + "words " * 100 for number in range(7)]
    notes = await run.hear(*(event(text, author=BOT, at=NOW + at) for at, text in enumerate(texts)))
    found = (await run.told("search-notes", query="tide"))["notes"]
    assert [note["note"] for note in found] == ["n1", "n2", "n3", "n4", "n5"]
    assert found[0]["date"] == "2025-06-15"
    assert found[0]["preview"].startswith("tide 0 words") and len(found[0]["preview"]) <= 160
    assert [run.reach.handles[f"n{number}"] for number in range(1, 6)] == [note.id for note in notes[:5]]


async def test_search_stays_in_the_scope_of_the_run(store: Store) -> None:
    run = scene(store)
    await run.hear(event("tide of ours", author=BOT), event("tide of others", author=CAROL))
    found = (await run.told("search-notes", query="tide"))["notes"]
    assert [note["preview"] for note in found] == ["tide of ours"]
    assert run.asked_for == [("tide", run.reach.scope)]


async def test_search_does_not_find_the_question(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(
        message("when is the tide?"), *(message(f"tide {n}", author=BOB) for n in range(6))
    )
    run.answering(notes[0])
    found = (await run.told("search-notes", query="tide"))["notes"]
    assert [note["preview"] for note in found] == [f"tide {n}" for n in range(5)]


async def test_a_note_keeps_its_handle(store: Store) -> None:
    run = scene(store)
    await run.hear(event("tide", author=BOT))
    first, second = [(await run.told("search-notes", query="tide"))["notes"][0]["note"] for _ in range(2)]
    assert first == second == "n1"


async def test_expand_tells_how_notes_are_linked(store: Store) -> None:
    run = scene(store)
    top = event("top", ["t", "tides"], author=BOT)
    answer = event("answer", ["e", top.id, "", "root"], author=BOT, at=NOW + 1)
    other = event("other", ["t", "tides"], author=BOT, at=NOW + 2)
    notes = await run.hear(top, answer, other, event("unlinked", author=BOT))
    [handle] = run.show(notes[0])
    found = (await run.told("expand-graph", note=handle))["notes"]
    assert {note["preview"]: note["link"] for note in found} == {
        "answer": "answers it",
        "other": "topic tides",
    }


async def test_expand_shows_nothing_outside_of_the_scope(store: Store) -> None:
    run = scene(store)
    top = event("top", author=BOT)
    notes = await run.hear(top, event("theirs", ["e", top.id, "", "root"], author=CAROL))
    [handle] = run.show(notes[0])
    assert (await run.told("expand-graph", note=handle))["notes"] == []


async def test_memories_lead_to_their_notes(store: Store) -> None:
    run = scene(store)
    [ours, theirs] = await run.hear(event("a long story", author=BOT), event("another", author=CAROL))

    def unit(tx: Any) -> None:
        for note, text in ((ours, "The tide turns twice."), (theirs, "Tides of others.")):
            tx.execute("INSERT INTO memories VALUES (?, ?, 'test', ?)", (note.seq, text, NOW))

    await store.write(unit)
    assert await run.told("get-memories") == {"notes": [{"note": "n1", "memory": "The tide turns twice."}]}
    assert (await run.told("get-memories", about="tide"))["notes"][0]["note"] == "n1"
    assert (await run.told("get-memories", about="bicycles"))["notes"] == []


async def test_a_note_that_was_shown_is_read_whole(store: Store) -> None:
    run = scene(store)
    [note] = await run.hear(message("first\nsecond", author=ALICE))
    [handle] = run.show(note)
    for spelling in (handle, f"[{handle}]", handle.upper()):
        found = (await run.told("read-note", note=spelling))["notes"]
        assert found == [{"note": "n1", "by": ALICE[:8], "date": "2025-06-15", "text": "first\nsecond"}]


async def test_a_note_that_was_deleted_meanwhile_is_not_read(store: Store) -> None:
    run = scene(store)
    said = message("said", author=BOB)
    [note] = await run.hear(said)
    [handle] = run.show(note)
    await run.hear(deletion(said, author=BOB))
    assert "error" in await run.told("read-note", note=handle)


async def test_a_handle_that_was_never_shown_is_told(store: Store) -> None:
    run = scene(store)
    [note] = await run.hear(event("ours", author=BOT))
    for handle in ("n1", note.id):
        assert "was shown to you" in (await run.told("read-note", note=handle))["error"]
        assert "was shown to you" in (await run.told("expand-graph", note=handle))["error"]
