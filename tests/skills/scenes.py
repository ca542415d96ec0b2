"""A run's reach over a real store, and calls as a model writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.factory import BOT, NOW, heard, hosted, hosted_on_mentions
from uniun_bots.database.store import Store
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import mark_checked
from uniun_bots.graph.scope import Scope, scope_of, where
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.inputs.enabled import turn_on
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.skills.call import Call, read_call
from uniun_bots.skills.effect import Answer, Effect, Publish
from uniun_bots.skills.executors import execute
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.registry import Registration, register


@dataclass
class Scene:
    store: Store
    hosted: HostedGana
    registration: Registration
    reach: Reach = field(init=False)
    asked_for: list[tuple[str, Scope]] = field(default_factory=list)
    """What was searched."""

    def __post_init__(self) -> None:
        self.reach = Reach(self.store, scope_of(self.hosted), self._search, NOW, hosted=self.hosted)
        self.reach.own = own_keys([BOT])

    async def _search(self, query: str, scope: Scope, most: int) -> Sequence[Note]:
        """Every note of the scope that has the query in it."""
        self.asked_for.append((query, scope))
        condition, given = where(scope)
        found = await self.store.read(
            lambda tx: tx.execute(f"SELECT n.id FROM notes n WHERE {condition}", given).fetchall()  # noqa: S608
        )
        notes = [await self.note(row[0]) for row in found]
        return [note for note in notes if query in note.text]

    async def hear(self, *events: Event) -> list[Note]:
        """On since NOW, and every author looked up."""

        def unit(tx: Any) -> None:
            turn_on(tx, self.hosted.id, NOW)
            keep(tx, heard(*events))
            mark_checked(tx, {event.author for event in events}, NOW)

        await self.store.write(unit)
        return [await self.note(event.id) for event in events if event.kind in (1, 42)]

    async def note(self, note_id: str) -> Note:
        found = await self.store.read(lambda tx: note_by_id(tx, note_id))
        assert found is not None
        return found

    async def make_private(self, surface: str, *notes: Note) -> None:
        """As a private transport will keep them: without signed bytes, on their conversation."""

        def unit(tx: Any) -> None:
            for note in notes:
                tx.execute("DELETE FROM surfaces WHERE seq = ?", (note.seq,))
                tx.execute("INSERT INTO surfaces VALUES (?, ?)", (surface, note.seq))
                tx.execute("UPDATE notes SET audience = ?, raw = NULL WHERE seq = ?", (surface, note.seq))

        await self.store.write(unit)

    def answering(self, *notes: Note, surface: str | None = None) -> None:
        where = surface or self.hosted.surface or "timer"
        self.reach.turn = Turn(self.hosted.id, where, notes, None, 1)

    def show(self, *notes: Note) -> list[str]:
        return [self.reach.handles.give(note.id) for note in notes]

    async def call(self, skill: str, **arguments: Any) -> Effect:
        said = json.dumps({"skill": skill, "arguments": arguments})
        call = read_call(said, self.registration)
        assert isinstance(call, Call), call
        return await execute(call, self.reach)

    async def told(self, skill: str, **arguments: Any) -> dict[str, Any]:
        """The JSON of an answer."""
        answer = await self.call(skill, **arguments)
        assert isinstance(answer, Answer), answer
        assert "\n" not in answer.text
        found: dict[str, Any] = json.loads(answer.text)
        assert answer.is_fault == ("error" in found)
        return found

    async def texts(self, skill: str, **arguments: Any) -> list[str]:
        return [note["text"] for note in (await self.told(skill, **arguments))["notes"]]

    async def publish(self, skill: str, body: str, *references: str) -> Publish:
        effect = await self.call(skill, body=body, referenceNoteIds=list(references))
        assert isinstance(effect, Publish), effect
        return effect


def scene(store: Store, given: HostedGana | None = None, library: Library | None = None) -> Scene:
    given = given or hosted()
    return Scene(store, given, register(given.gana, library or Library(predefined_skills())))


def scene_on_mentions(store: Store) -> Scene:
    return scene(store, hosted_on_mentions())
