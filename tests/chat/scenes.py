"""A chat over a real store, with a scripted model, and everything that was told on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.factory import NOW
from uniun_bots.chat import records
from uniun_bots.chat.answer import Answer
from uniun_bots.chat.conversation import Message
from uniun_bots.chat.question import Question
from uniun_bots.chat.shiv import Shiv
from uniun_bots.chat.telling import Again, Begun, Happening, Piece
from uniun_bots.clock import VirtualClock
from uniun_bots.database.store import Store
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import search
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.request import Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills


@dataclass
class Chat:
    store: Store
    engine: ScriptedEngine
    scheduler: Scheduler
    library: Library
    told: list[Happening] = field(default_factory=list)
    conversation: int | None = None

    def shiv(self, **given: Any) -> Shiv:
        async def find(text: str, scope: Scope, limit: int) -> Sequence[Note]:
            return [hit.note for hit in await search(self.store, None, text, scope, limit)]

        engines: dict[str, Engine] = {"default": self.engine}
        parts: dict[str, Any] = {
            "store": self.store,
            "scheduler": self.scheduler,
            "engines": engines,
            "search": find,
        }
        return Shiv(**parts, clock=VirtualClock(NOW + 60), library=self.library, **given)

    def tell(self, happening: Happening) -> None:
        self.told.append(happening)
        if isinstance(happening, Begun):
            self.conversation = happening.conversation

    async def ask(self, text: str, **given: Any) -> Answer:
        """The next question of the same conversation."""
        return await self.shiv().ask(
            Question(text, **({"conversation": self.conversation} | given)), self.tell
        )

    def heard(self) -> str:
        """The text as whoever listens has it in the end."""
        return heard(self.told)

    async def kept(self) -> list[Message]:
        number = self.conversation or 0
        return await self.store.read(lambda tx: records.messages(tx, number))

    def prompt(self, request: int = -1) -> str:
        return "\n".join(message.content for message in self.engine.requests[request].messages)

    async def until(self, check: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not check():
                await asyncio.sleep(0)


def heard(told: Iterable[Happening]) -> str:
    text = ""
    for happening in told:
        if isinstance(happening, Again):
            text = ""
        elif isinstance(happening, Piece):
            text += happening.text
    return text


class MakeChat:
    """`chat([…])` in a test: the fixture closes what was opened."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.made: list[Chat] = []

    def __call__(
        self,
        script: Iterable[Reply | str] | Callable[[Request], Reply | str],
        library: Library | None = None,
        **given: Any,
    ) -> Chat:
        engine = ScriptedEngine(script, **given)
        scheduler = Scheduler({"default": engine})
        self.made.append(Chat(self._store, engine, scheduler, library or Library(predefined_skills())))
        return self.made[-1]
