"""The fixture that people test their personas with, tried on the examples of this repository and on faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.stage import IN_GROUP
from tests.personas.folder import NPUB
from uniun_bots.errors import NotFound
from uniun_bots.host.rehearsal.staging import VARIABLE
from uniun_bots.testing import OpenPersona, call
from uniun_bots.testing.on_stage import on_stage


async def test_the_example_answers_a_question_in_its_group(persona: OpenPersona) -> None:
    lessons = await persona("life-lessons-replier", says=["Choose one page a day."])
    question = await lessons.hears("How do I learn to stay with one thing?")
    reply = await lessons.expect_reply("one page")
    assert (reply.kind, reply.author) == (42, lessons.pubkey)
    assert question.id in reply.tag_values("e")


async def test_the_example_leaves_thanks_alone(persona: OpenPersona) -> None:
    lessons = await persona("life-lessons-replier", says=["<NOOP>"])
    await lessons.hears("Thanks!")
    assert await lessons.expect_silence() == "the model chose to say nothing"


async def test_the_example_that_is_mentioned_answers_and_stops_when_it_is_told(persona: OpenPersona) -> None:
    helper = await persona("mention-helper", says=["I am here."])
    await helper.hears("Are you there?")
    await helper.expect_reply("here")
    await helper.hears("stop")
    await helper.expect_silence("stop")
    assert len(await helper.said()) == 1


async def test_the_example_with_a_timer_speaks_at_its_time(persona: OpenPersona) -> None:
    morning = await persona("morning-note", says=["Good morning."])
    assert await morning.said() == []
    await morning.advance("1d")
    await morning.expect_post("Good morning.")


def project(folder: Path, *lines: str, **changes: str) -> Path:
    given = {
        "name": "Tide",
        "identity": "key:nobody-has-it",
        "mode": "shadow",
        "relays": "public",
        "input": IN_GROUP,
        "output": "{type: group, ref: same, reply: true}",
        "trigger": "every-message",
    }
    (folder / "personas").mkdir(parents=True)
    head = [f"{key}: {value}" for key, value in (given | changes).items()]
    (folder / "personas" / "tide.md").write_text("\n".join(["---", *head, *lines, "---", "Say when.", ""]))
    engines = "engines: {big: {type: openai, base_url: 'http://127.0.0.1:1/v1', api_key: env:NOT_SET}}\nmodel: big\n"
    (folder / "host.yaml").write_text(f"proxy: socks5://127.0.0.1:1\n{engines}")
    return folder


async def test_nothing_of_the_real_world_is_needed_or_touched(tmp_path: Path) -> None:
    """Neither its key, its relays, its proxy nor its model server are there."""
    folder = project(tmp_path / "bots")
    async with on_stage(folder, "tide", tmp_path / "data", ["At noon."]) as star:
        await star.hears("When is high water?")
        await star.expect_reply("noon")
        assert star.gana.identity.startswith(f"env:{VARIABLE}")
    assert sorted(path.name for path in folder.iterdir()) == ["host.yaml", "personas"]


async def test_people_of_the_file_have_stand_ins(tmp_path: Path) -> None:
    only = IN_GROUP.replace("}", f", allow: [{NPUB}]}}")
    async with on_stage(project(tmp_path / "one", input=only), "tide", tmp_path / "a", ["At noon."]) as star:
        await star.hears("And when do I?")
        await star.expect_silence("input.allow")
        await star.hears("When is high water?", by="friend")
        await star.expect_reply()
    user = {"input": f"{{type: user, ref: {NPUB}}}", "output": "{type: feed, reply: true}"}
    async with on_stage(project(tmp_path / "two", **user), "tide", tmp_path / "b", ["Well said."]) as star:
        await star.hears("I saw the sea today.")
        await star.expect_reply("Well said.")


async def test_a_persona_that_follows_a_note_hears_what_answers_it(tmp_path: Path) -> None:
    followed = {"input": f"{{type: followed-note, ref: {'ab' * 32}}}", "output": "{type: feed, reply: true}"}
    folder = project(tmp_path / "bots", **followed)
    async with on_stage(folder, "tide", tmp_path / "data", ["At noon.", "At one."]) as star:
        asked = await star.hears("When is high water?")
        reply = await star.expect_reply("noon")
        assert list(reply.tag_values("e")) == ["ab" * 32, asked.id]
        await star.hears("And tomorrow?", answers=reply)
        await star.expect_reply("one")


async def test_a_thread_a_profile_and_time_are_as_the_test_says(tmp_path: Path) -> None:
    async with on_stage(project(tmp_path / "bots"), "tide", tmp_path / "data", ["Noon.", "One."]) as star:
        question = await star.hears("When is high water?")
        first = await star.expect_reply("Noon")
        again = await star.hears("And tomorrow?", answers=first)
        second = await star.expect_reply("One")
        assert second.tag_values("e")[-1] == again.id
        await star.post(0, '{"name": "Robot", "bot": true}', by="robot")
        robot = await star.hears("Beep?", by="robot")
        assert "bot: true" in await star.expect_silence("input.allow_bots", to=robot)
        before = star.clock.now()
        await star.advance("2d")
        assert star.clock.now() == before + 2 * 86_400
        assert (await star.expect_reply(to=question)).id == first.id


async def test_an_agentic_persona_is_scripted_with_calls(tmp_path: Path) -> None:
    folder = project(tmp_path / "bots", agentic="true")
    says = [
        call("search-notes", query="tide"),
        call("publish-group-message", body="At noon.", referenceNoteIds=[]),
        call("stay-silent"),
    ]
    async with on_stage(folder, "tide", tmp_path / "data", says) as star:
        await star.hears("When is high water?")
        await star.expect_reply("noon")
        await star.hears("Thanks!")
        await star.expect_silence()


async def test_a_failed_expectation_says_what_happened_instead(tmp_path: Path) -> None:
    async with on_stage(project(tmp_path / "bots"), "tide", tmp_path / "data", ["Noon.", "<NOOP>"]) as star:
        with pytest.raises(AssertionError, match="has heard nothing yet"):
            await star.expect_reply()
        with pytest.raises(AssertionError, match="published nothing new"):
            await star.expect_post()
        await star.hears("When?")
        with pytest.raises(AssertionError, match="tide answered 'When\\?' with 'Noon.'"):
            await star.expect_silence()
        with pytest.raises(AssertionError, match="tide said 'Noon.', without 'midnight'"):
            await star.expect_reply("midnight")
        await star.hears("Thanks!")
        with pytest.raises(AssertionError, match="did not answer 'Thanks!': silent: the model chose"):
            await star.expect_reply()
        with pytest.raises(AssertionError, match="not held by input.max_age: silent"):
            await star.expect_silence("input.max_age")
        await star.hears("One more?")
        with pytest.raises(AssertionError, match="pending: the script has no reply"):
            await star.expect_reply()


async def test_a_persona_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no persona sea; there are: tide"):
        async with on_stage(project(tmp_path / "bots"), "sea", tmp_path / "data", []):
            raise AssertionError("it opened")
