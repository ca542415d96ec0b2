"""A chat with a running host, over its control socket."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from tests.chat.scenes import heard
from tests.graph.library import know
from tests.host.stage import Stage, decided, rows_of, until
from tests.runs.agent import call
from uniun_bots.chat.conversation import State
from uniun_bots.chat.question import Question
from uniun_bots.chat.telling import Begun, Happening, Looked
from uniun_bots.errors import NoHost, UniunError
from uniun_bots.host.chat.events import (
    happening_as_json,
    happening_from_json,
    question_as_json,
    question_from_json,
)
from uniun_bots.host.chat.through_host import ask_through_host
from uniun_bots.host.control.ask import socket_path
from uniun_bots.host.host import Host
from uniun_bots.inference.scripted import Reply, ScriptedEngine

FERRY = "The ferry leaves at nine."
ASKED = Question("When does the ferry leave?")


async def ask(host: Host, question: Question, told: list[Happening]) -> object:
    return await ask_through_host(host.project.data_dir, question, told.append)


async def test_a_running_host_answers_and_its_words_come_in_pieces(stage: Stage) -> None:
    stage.persona(mode="off")
    stage.engine = ScriptedEngine(["The ferry leaves at nine [n1]."])
    async with stage.host() as host:
        ferry = await know(host.store, FERRY)
        told: list[Happening] = []
        answer = await ask_through_host(host.project.data_dir, ASKED, told.append)
        assert (answer.state, answer.cited[0].note_id) == (State.ANSWERED, ferry.id)
        assert told[0] == Begun(1)
        assert len(told) > 3
        assert heard(told) == answer.text == "The ferry leaves at nine [n1]."
        kept = await rows_of(host, "SELECT role, text FROM messages ORDER BY message")
        assert [row["text"] for row in kept] == [ASKED.text, answer.text]


async def test_a_deep_answer_tells_each_step(stage: Stage) -> None:
    stage.persona(mode="off")
    stage.engine = ScriptedEngine([call("search-notes", query="ferry"), call("answer-now"), "At nine [n1]."])
    async with stage.host() as host:
        await know(host.store, FERRY)
        told: list[Happening] = []
        question = question_from_json(question_as_json(ASKED) | {"deep": True})
        answer = await ask_through_host(host.project.data_dir, question, told.append)
        assert answer.deep and answer.state is State.ANSWERED
        assert [one.skill for one in told if isinstance(one, Looked)] == ["search-notes", "answer-now"]


async def test_whoever_hangs_up_in_the_middle_stops_the_model(stage: Stage) -> None:
    stage.persona(mode="off")
    stage.engine = engine = ScriptedEngine([Reply("The ferry leaves at", hangs=True), "At nine [n1]."])
    async with stage.host() as host:
        await know(host.store, FERRY)
        told: list[Happening] = []
        asking = asyncio.ensure_future(ask(host, ASKED, told))
        await until(lambda: _is(heard(told) == "The ferry leaves"))
        with pytest.raises(UniunError, match="conversation 1 waits for an answer already"):
            await ask(host, Question("ferry?", conversation=1), [])
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: _is(len(engine.cancelled) == 1))
        await until(lambda: _kept(host, "cancelled"))
        again = await ask_through_host(host.project.data_dir, Question("ferry?", conversation=1), told.append)
        assert again.state is State.ANSWERED


async def test_whoever_hangs_up_while_the_prompt_is_read_stops_the_model(stage: Stage) -> None:
    """Nothing is written then, which would tell that nobody listens."""
    stage.persona(mode="off")
    stage.engine = engine = ScriptedEngine([Reply("", hangs=True)])
    async with stage.host() as host:
        await know(host.store, FERRY)
        asking = asyncio.ensure_future(ask(host, ASKED, []))
        await engine.until_asked(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: _is(len(engine.cancelled) == 1))


async def test_a_host_that_stops_does_not_wait_for_an_answer_and_says_so(stage: Stage) -> None:
    stage.persona(mode="off")
    stage.engine = ScriptedEngine([Reply("The ferry leaves at", hangs=True)])
    async with stage.host() as host:
        await know(host.store, FERRY)
        asking = asyncio.ensure_future(ask(host, ASKED, []))
        await stage.engine.until_asked(1)
    with pytest.raises(UniunError, match="the host is closing"):
        await asking
    async with stage.host() as host:
        assert await _kept(host, "cancelled")


async def test_a_chat_goes_before_a_gana(stage: Stage) -> None:
    """One slot: the Gana's job gives way, and is done in the end."""
    stage.persona()
    stage.engine = engine = ScriptedEngine(
        [Reply("Too late.", hangs=True), "At nine [n1].", "High water is at noon."]
    )
    async with stage.host() as host:
        await know(host.store, FERRY)
        question = await stage.ask("When is high water?")
        await engine.until_asked(1)
        answer = await ask_through_host(host.project.data_dir, ASKED, lambda _: None)
        assert answer.text == "At nine [n1]."
        assert len(engine.cancelled) == 1
        (reply,) = await stage.replies(1)
        await decided(host, question)
        assert reply.content == "High water is at noon."
        assert [request.tier for request in engine.requests] == [4, 0, 4]


async def test_what_cannot_be_asked_is_told(stage: Stage) -> None:
    stage.persona(mode="off")
    async with stage.host() as host:
        for wrong, told in (
            (Question("x", engine="big"), "no engine `big`"),
            (Question("x", manas=("sea",)), "no Manas sea"),
            (Question("x", skills=("tone",)), "no text skill tone"),
            (Question("x", conversation=9), "no conversation 9"),
        ):
            with pytest.raises(UniunError, match=told):
                await ask(host, wrong, [])
        connector = aiohttp.UnixConnector(path=str(socket_path(host.project.data_dir)))
        async with aiohttp.ClientSession(connector=connector) as session:
            wrong_bodies: list[object] = [{"text": 5}, {"txt": "x"}, [], {"text": "x", "conversation": "1"}]
            for body in wrong_bodies:
                async with session.post("http://host/chat", json=body) as response:
                    assert response.status == 400, await response.text()
    with pytest.raises(NoHost):
        await ask(host, ASKED, [])


async def test_an_attached_skill_that_came_with_a_reload_can_be_used(stage: Stage) -> None:
    stage.persona(mode="off")
    stage.engine = ScriptedEngine(["At nine [n1]."])
    async with stage.host() as host:
        await know(host.store, FERRY)
        (stage.folder / "skills").mkdir()
        (stage.folder / "skills" / "tone.md").write_text(
            "---\nname: tone\ndescription: Tone\n---\nSpeak like a sailor.\n"
        )
        await host.reload()
        await ask(host, Question("When does the ferry leave?", skills=("tone",)), [])
        assert "Speak like a sailor." in stage.engine.requests[0].messages[0].content


def test_what_is_told_comes_out_as_it_went_in() -> None:
    question = Question("x", 3, ("sea",), "big", True, ("tone",))
    assert question_from_json(json.loads(json.dumps(question_as_json(question)))) == question
    for happening in (Begun(3), Looked("search-notes", "{}", "carried out")):
        assert happening_from_json(json.loads(json.dumps(happening_as_json(happening)))) == happening


async def _is(true: bool) -> bool:
    return true


async def _kept(host: Host, state: str) -> bool:
    return bool(await rows_of(host, "SELECT 1 FROM messages WHERE state = ?", state))
