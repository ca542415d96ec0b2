"""Where a question goes: to the host that runs at that moment, or to a model of our own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.graph.library import embed_all, know
from tests.host.stage import Stage
from uniun_bots.chat.conversation import State
from uniun_bots.chat.question import Question
from uniun_bots.chat.telling import Happening
from uniun_bots.database.store import FILE, Store
from uniun_bots.errors import NotFound
from uniun_bots.host.chat import alone
from uniun_bots.host.chat.session import ChatSession
from uniun_bots.host.lease import holder
from uniun_bots.inference.embed.embedder import EmbedderInfo
from uniun_bots.inference.embed.scripted import ScriptedEmbedder
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.settings import HostSettings

FERRY = "The ferry leaves at nine."


def settings_of(folder: Path) -> HostSettings:
    reading, _ = load_settings(folder / "host.yaml")
    assert reading.value is not None
    return reading.value


async def session_on(folder: Path, engine: ScriptedEngine, model: str | None = None) -> ChatSession:
    settings = await asyncio.to_thread(settings_of, folder)
    return await asyncio.to_thread(
        lambda: ChatSession(folder, settings, {}, model=model, engines={"default": engine})
    )


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """Where the store of the stage lies."""
    return tmp_path / "bots" / "data" / FILE


def hear(happening: Happening) -> None:
    pass


async def test_an_open_chat_neither_keeps_a_host_from_starting_nor_a_model_beside_it(
    stage: Stage, known: Path
) -> None:
    stage.persona(mode="off")
    async with Store(known) as store:
        await know(store, FERRY)
    stage.engine = ScriptedEngine(["The host says nine [n1]."])
    own = ScriptedEngine(["I say nine [n1].", "I say it again [n1]."])
    session = await session_on(stage.folder, own)
    first = await session.ask(Question("ferry?"), hear)
    assert await asyncio.to_thread(holder, known.parent) is None
    async with stage.host():
        second = await session.ask(Question("ferry?", conversation=1), hear)
        assert own.closed
    third = await session.ask(Question("ferry?", conversation=1), hear)
    await session.aclose()
    assert [one.text for one in (first, second, third)] == [
        "I say nine [n1].",
        "The host says nine [n1].",
        "I say it again [n1].",
    ]
    assert len(own.requests[1].messages) == 6


async def test_without_a_host_a_cancelled_question_stops_the_model_and_gives_the_lease_back(
    stage: Stage, known: Path
) -> None:
    async with Store(known) as store:
        await know(store, FERRY)
    own = ScriptedEngine([Reply("The ferry", hangs=True)])
    session = await session_on(stage.folder, own)
    asking = asyncio.ensure_future(session.ask(Question("ferry?"), hear))
    await own.until_asked(1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(own.cancelled) == 1
    assert await asyncio.to_thread(holder, known.parent) is None
    await session.aclose()


async def test_vectors_are_used_and_their_embedder_stays_for_the_next_question(
    stage: Stage, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counted(ScriptedEmbedder):
        loads = closes = 0

        async def load(self) -> EmbedderInfo:
            Counted.loads += 1
            return await super().load()

        async def aclose(self) -> None:
            Counted.closes += 1

    synonyms = {"vessel": "ferry"}
    async with Store(known) as store:
        await know(store, FERRY)
        await embed_all(store, ScriptedEmbedder(synonyms=synonyms))
    made: list[Counted] = []

    def make(*given: object) -> Counted:
        made.append(Counted(synonyms=synonyms))
        return made[-1]

    monkeypatch.setattr(alone, "make_embedder", make)
    session = await session_on(stage.folder, ScriptedEngine(["At nine [n1].", "At nine [n1]."]))
    for _ in range(2):
        assert (await session.ask(Question("vessel"), hear)).state is State.ANSWERED
    assert (len(made), Counted.closes) == (1, 0)
    await session.aclose()
    assert Counted.closes == 1


async def test_where_nothing_ever_ran_there_is_nothing_to_ask(stage: Stage) -> None:
    with pytest.raises(NotFound, match="nothing has run here"):
        await session_on(stage.folder, ScriptedEngine())
