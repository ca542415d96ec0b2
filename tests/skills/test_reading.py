from __future__ import annotations

import json

import pytest

from tests.factory import ALICE, BOB, BOT, CAROL, CHANNEL, NOW, deletion, event, gana, hosted, message
from tests.skills.samples import INPUTS
from tests.skills.scenes import scene, scene_on_mentions
from uniun_bots.database.store import Store
from uniun_bots.graph.scope import Scope
from uniun_bots.inputs.decided import hold
from uniun_bots.inputs.held import Held
from uniun_bots.personas.gana import InputType, OutputType
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.skills.catalogue import PUBLISHING, READING
from uniun_bots.skills.effect import Answer


async def test_input_goes_on_where_the_turn_ends_and_pages_further(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(*(message(f"m{number}", at=NOW + number) for number in range(25)))
    run.answering(*notes[:2])
    first = await run.told("read-group-input")
    assert [note["text"] for note in first["notes"]] == [f"m{number}" for number in range(2, 12)]
    assert first["more"] is True
    third = await run.told("read-group-input", page=3)
    assert ([note["text"] for note in third["notes"]], third["more"]) == (["m22", "m23", "m24"], False)
    assert (await run.told("read-group-input", page=50))["notes"] == []


async def test_input_is_what_the_same_take_would_choose_from(store: Store) -> None:
    """Decided notes, our own words, what the guards hold and deleted notes stay out."""
    run = scene(store, hosted(gana(input={"type": "group", "ref": CHANNEL, "deny": [CAROL]})))
    gone = message("deleted", author=BOB)
    notes = await run.hear(
        message("asked"),
        message("decided", author=BOB),
        message("denied", author=CAROL),
        message("our own", author=BOT),
        message("too old", author=BOB, at=NOW - 90_000),
        gone,
        message("waits", author=BOB),
        event("another surface"),
    )
    await run.hear(deletion(gone, author=BOB))
    await store.write(lambda tx: hold(tx, run.hosted.id, [Held(notes[1].id, "held", "test")], NOW))
    run.answering(notes[0])
    assert await run.texts("read-group-input") == ["waits"]


async def test_looking_ends_where_thousands_wait_that_will_be_held(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uniun_bots.inputs.waiting.MOST_PAGES", 2)
    run = scene(store, hosted(gana(input={"type": "group", "ref": CHANNEL, "deny": [CAROL]})))
    notes = await run.hear(
        message("asked"),
        *(message(f"denied {number}", author=CAROL) for number in range(70)),
        message("behind them", author=BOB),
    )
    run.answering(notes[0])
    assert await run.texts("read-group-input") == []


async def test_reading_input_decides_nothing(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(message("asked"), message("waits", author=BOB))
    run.answering(notes[0])
    assert await run.texts("read-group-input") == await run.texts("read-group-input") == ["waits"]


async def test_what_is_shown_has_a_handle_a_name_and_a_date(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(message("asked"), message("waits", author=BOB))
    run.answering(notes[0])
    told = await run.told("read-group-input")
    assert told["notes"] == [{"note": "n1", "by": BOB[:8], "date": "2025-06-15", "text": "waits"}]
    assert run.reach.handles == {"n1": notes[1].id}


async def test_the_thread_that_is_answered_needs_no_handle(store: Store) -> None:
    run = scene_on_mentions(store)
    top = event("top", author=BOB)
    middle = event("middle", ["e", top.id, "", "root"], author=CAROL, at=NOW + 1)
    asked = event("asked", ["e", top.id, "", "root"], ["e", middle.id, "", "reply"], ["p", BOT], at=NOW + 2)
    below = event("below", ["e", top.id, "", "root"], ["e", asked.id, "", "reply"], author=BOB, at=NOW + 3)
    notes = await run.hear(top, middle, asked, below, event("elsewhere"))
    run.answering(notes[2])
    assert await run.texts("read-thread") == ["top", "middle", "asked", "below"]


async def test_a_thread_of_thousands_shows_its_root_and_what_is_near(store: Store) -> None:
    run = scene_on_mentions(store)
    chain = [event("top", ["p", BOT])]
    for number in range(1, 60):
        tags = [["e", chain[0].id, "", "root"], ["e", chain[-1].id, "", "reply"]]
        chain.append(event(f"m{number}", *tags, at=NOW + number))
    notes = await run.hear(*chain)
    run.answering(notes[-1])
    told = await run.told("read-thread")
    texts = [note["text"] for note in told["notes"]]
    assert (texts[0], texts[-1]) == ("top", "m59")
    assert len(texts) + told["left_out"] == 60


async def test_a_thread_elsewhere_shows_what_the_scope_holds(store: Store) -> None:
    run = scene(store)
    theirs = event("theirs", author=CAROL)
    ours = event("ours", ["e", theirs.id, "", "root"], author=BOT, at=NOW + 1)
    notes = await run.hear(theirs, ours, message("asked"))
    run.answering(notes[2])
    [handle] = run.show(notes[1])
    assert await run.texts("read-thread", note=handle) == ["ours"]


async def test_a_standalone_run_has_no_thread_to_answer(store: Store) -> None:
    run = scene(store, hosted(gana(input=None, output={"type": "feed"}, trigger="once-on-enable")))
    run.answering()
    assert "error" in await run.told("read-thread")


async def test_a_handle_that_was_never_shown_opens_nothing(store: Store) -> None:
    run = scene(store)
    [note] = await run.hear(message("asked"))
    run.answering(note)
    for handle in ("n9", note.id, "n1 OR 1=1", "n" * 90):
        assert "error" in await run.told("read-thread", note=handle)


PRIVATE = {InputType.DM: f"dm:{BOT}:{ALICE}", InputType.PRIVATE_GROUP: f"private-group:{'aa' * 16}"}


@pytest.mark.parametrize(("source", "surface"), list(PRIVATE.items()))
async def test_private_input_is_read_in_its_own_conversation_and_answered_there(
    store: Store, source: InputType, surface: str
) -> None:
    """The transports are not built; what they will hand over and get is."""
    output = OutputType(source)
    given = gana(input=INPUTS[source], output={"type": output})
    run = scene(store, HostedGana(given, BOT, surface, (), ()))
    run.reach.scope = Scope(surfaces=(surface,), audience=surface)
    notes = await run.hear(*(event(text) for text in ("asked", "waits", "of others")))
    await run.make_private(surface, *notes[:2])
    await run.make_private(f"{surface}x", notes[2])
    run.answering(notes[0], surface=surface)
    assert await run.texts(READING[source]) == ["waits"]
    transport = [await run.publish(PUBLISHING[output], "between us", "n1")]
    assert [(sent.body, sent.references) for sent in transport] == [("between us", (notes[1].id,))]


async def test_private_notes_stay_out_of_a_public_run(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(message("asked"), message("private", author=BOB))
    run.answering(notes[0])
    [handle] = run.show(notes[1])
    await run.make_private(f"dm:{BOT}:{BOB}", notes[1])
    for skill in ("read-note", "read-thread"):
        assert "error" in await run.told(skill, note=handle)
    assert (await run.told("expand-graph", note=handle))["notes"] == []
    assert (await run.publish("publish-group-message", "hi", handle)).references == ()


async def test_long_notes_are_cut_and_results_stay_small(store: Store) -> None:
    run = scene(store)
    long = '\u2028quoted "words"\n' * 100
    notes = await run.hear(
        message("asked"), *(message(f"{number} {long}", author=BOB) for number in range(12))
    )
    run.answering(notes[0])
    answer = await run.call("read-group-input")
    assert isinstance(answer, Answer)
    assert len(answer.text) < 4000
    told = json.loads(answer.text)
    assert len(told["notes"]) + told["left_out"] == 10
    assert len(run.reach.handles) == len(told["notes"]) == len(answer.note_ids)
