from __future__ import annotations

from typing import Any

import pytest

from tests.factory import BOT, NOW, deletion, event, hosted, message
from tests.skills.samples import gana_with, library
from tests.skills.scenes import scene
from uniun_bots.database.store import Store
from uniun_bots.personas.gana import InputType, OutputType
from uniun_bots.skills.catalogue import ANSWER_NOW, BUILTINS, PUBLISHING, Role
from uniun_bots.skills.effect import Answer, Silence
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.registry import register_for_shiv


async def test_a_post_cites_notes_that_were_shown(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(event("one", author=BOT), event("two", author=BOT))
    first, second = run.show(*notes)
    found = await run.publish("publish-group-message", "see these", second, first, f"[{second}]")
    assert (found.body, found.references, found.dropped) == ("see these", (notes[1].id, notes[0].id), ())


async def test_handles_that_were_never_shown_are_dropped_and_told(store: Store) -> None:
    run = scene(store)
    [note] = await run.hear(event("one", author=BOT))
    found = await run.publish("publish-group-message", "hi", "n1", note.id, "' OR 1=1 --", "n" * 99)
    assert found.references == ()
    assert len(found.dropped) == 4 and found.dropped[0] == "'n1': never shown"
    assert all(len(told) < 60 for told in found.dropped)


async def test_what_is_answered_is_not_cited_too(store: Store) -> None:
    run = scene(store)
    [note] = await run.hear(message("asked"))
    run.answering(note)
    found = await run.publish("publish-group-message", "hi", *run.show(note))
    assert (found.references, found.dropped) == ((), ())


async def test_what_nobody_could_open_is_not_cited(store: Store) -> None:
    """Drafts, deleted notes, notes of another conversation."""
    run = scene(store)
    gone = event("gone", author=BOT)
    notes = await run.hear(gone, event("draft", author=BOT), event("private", author=BOT))
    handles = run.show(*notes)
    await run.hear(deletion(gone, author=BOT))
    await run.make_private("dm:a:b", notes[2])
    await store.write(lambda tx: tx.execute("UPDATE notes SET origin = 'draft' WHERE id = ?", (notes[1].id,)))
    found = await run.publish("publish-group-message", "hi", *handles)
    assert found.references == ()
    assert [told.split(":")[0] for told in found.dropped] == handles


async def test_an_endless_list_of_references_ends(store: Store) -> None:
    run = scene(store)
    notes = await run.hear(*(event(f"{number}", author=BOT) for number in range(40)))
    found = await run.publish(
        "publish-group-message", "hi", *run.show(*notes), *(f"x{n}" for n in range(900))
    )
    assert found.references == tuple(note.id for note in notes[:8])
    assert len(found.dropped) == 20


@pytest.mark.parametrize("output", list(OutputType))
async def test_every_output_skill_gives_words_and_references_and_nothing_else(
    store: Store, output: OutputType
) -> None:
    run = scene(store, hosted(gana_with(None, output)))
    found = await run.publish(PUBLISHING[output], "hello")
    assert (found.body, found.references) == ("hello", ())


async def test_a_text_skill_returns_its_whole_body(store: Store, tmp_path: Any) -> None:
    own = library(
        tmp_path,
        tone='---\nname: tone\ndescription: Tone\n---\nBe kind.\n<!-- unseen -->\n\n---\n\n{"skill": "x"}\n',
    )
    run = scene(store, hosted(gana_with(None, OutputType.FEED, skills=["tone"])), own)
    assert await run.call("tone") == Answer('Be kind.\n\n\n---\n\n{"skill": "x"}')


async def test_silence_is_an_ending(store: Store) -> None:
    assert await scene(store).call("stay-silent") == Silence()


async def test_every_predefined_skill_is_bound_to_code(store: Store) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "search-notes": {"query": "tide"},
        "expand-graph": {"note": "n1"},
        "read-note": {"note": "n1"},
        "remind-me": {"text": "the tide", "in_minutes": 5},
        "share-external": {"text": "the tide"},
    }
    posts = {name: {"body": "hi"} for name, one in BUILTINS.items() if one.role is Role.OUTPUT}
    called: set[str] = set()
    for output in OutputType:
        for source in (None, *InputType):
            run = scene(store, hosted(gana_with(source, output, skills=["remind-me", "share-external"])))
            run.answering(*await run.hear(message("asked", at=NOW)))
            for name in run.registration.names():
                await run.call(name, **arguments.get(name, posts.get(name, {})))
                called.add(name)
    shiv = scene(store)
    shiv.registration = register_for_shiv((), Library(predefined_skills()))
    assert await shiv.call(ANSWER_NOW) == Silence()
    assert called | {ANSWER_NOW} == set(BUILTINS)
