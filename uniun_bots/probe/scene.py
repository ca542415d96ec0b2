"""Lay a situation out in an empty store: its Gana, its notes as events, and the turn. There is no key and no relay."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from uniun_bots.database.store import Store
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.manas import Rule, set_manas
from uniun_bots.graph.memories import remember
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import mark_checked
from uniun_bots.inputs.enabled import turn_on
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.event_id import event_id
from uniun_bots.personas.gana import Gana, InputType, Mode, OutputType, Trigger
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.probe.situation import ME, STAR, Actor, Said, Situation, SituationFile, Where, input_of
from uniun_bots.relays.heard import Heard
from uniun_bots.runs.prepare import rules_of
from uniun_bots.skills.library import Library, named
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.registry import Registration, register
from uniun_bots.skills.skill import Skill, SkillFile, Source

NOW = 1_767_603_600
"""2026-01-05, 09:00 UTC: so that ages and prompts are the same each time."""
MOST_ROUNDS = 5
"""So many calls a run may make here, whatever a persona says: how many it needs is to be seen."""
MANAS = "notes"
TIMER = "timer"


def key_of(name: str) -> str:
    return hashlib.sha256(f"uniun-bots probe {name}".encode()).hexdigest()


CHANNEL = key_of("channel")


@dataclass(frozen=True, slots=True)
class Scene:
    hosted: HostedGana
    registration: Registration
    turn: Turn
    names: dict[str, str]
    """Note id to the name that the situation has for it."""


def shown(file: SituationFile) -> dict[str, str]:
    """For each situation by its name: a digest that changes with everything a model is shown, and not with what
    would be right."""
    rules = {name: _rules(name, actor) for name, actor in file.ganas.items()}
    return {one.name: _digest(one, file.actor(one), rules[one.gana]) for one in file.situations}


def _rules(name: str, actor: Actor) -> str:
    gana = _gana(name, actor, MOST_ROUNDS)
    return rules_of(gana, _registration(gana, actor))


def _digest(situation: Situation, actor: Actor, rules: str) -> str:
    told = [
        situation.model_dump(mode="json", include={"notes", "turn"}),
        actor.model_dump(mode="json"),
        rules,
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


async def lay_out(store: Store, situation: Situation, actor: Actor) -> Scene:
    gana = _gana(situation.gana, actor, MOST_ROUNDS)
    hosted = HostedGana(gana, key_of(ME), gana.input_surface(key_of(ME)), (), ())
    events = _Events(actor)
    for said in situation.notes:
        events.add(said, said.where is not Where.KNOWN)
    for said in situation.turn:
        events.add(said, True)
    turn = await store.write(lambda tx: _keep(tx, situation, hosted, events))
    return Scene(hosted, _registration(gana, actor), turn, events.names())


def _gana(name: str, actor: Actor, max_rounds: int) -> Gana:
    given = input_of(actor, CHANNEL, key_of(STAR))
    output: dict[str, object] = {"type": actor.output, "max_chars": actor.max_chars}
    if actor.output is OutputType.GROUP:
        output["ref"] = CHANNEL
    return Gana.model_validate(
        {
            "id": name,
            "file": name,
            "name": actor.name,
            "identity": "env:NONE",
            "mode": Mode.LIVE,
            "manas": (MANAS,),
            "input": given,
            "output": output | ({"reply": True} if given else {}),
            "trigger": Trigger.EVERY_MESSAGE if given else Trigger.ON_SCHEDULE,
            "agentic": True,
            "max_rounds": max_rounds,
            "skills": (*actor.devices, *actor.skills),
            "task": actor.task,
        }
    )


def _registration(gana: Gana, actor: Actor) -> Registration:
    texts = [
        Skill(
            SkillFile(name=name, description=one.description, body=one.body), name, Source.PROJECT, one.body
        )
        for name, one in actor.skills.items()
    ]
    return register(gana, Library(predefined_skills(), named(texts)))


@dataclass(slots=True)
class _Events:
    actor: Actor
    by_name: dict[str, Event] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    """Event id to the root of its thread."""

    def add(self, said: Said, is_here: bool) -> None:
        kind = 42 if is_here and self.actor.input is InputType.GROUP else 1
        tags = (*self._place(said, is_here), *self._cites(said))
        author, at = key_of(said.by), int(NOW - said.age_s)
        draft = Draft(kind, said.text, tags, at)
        found = event_id(author, draft)
        fields = {"id": found, "pubkey": author, "created_at": at, "kind": kind, "tags": tags}
        raw = json.dumps(fields | {"content": said.text, "sig": "0" * 128}).encode()
        self.by_name[said.id] = Event(found, author, at, kind, tags, said.text, raw)
        parent = self.by_name[said.answers].id if said.answers else None
        self.roots[found] = self.roots.get(parent, parent) if parent else found

    def _place(self, said: Said, is_here: bool) -> tuple[Tag, ...]:
        parent = self.by_name[said.answers] if said.answers else None
        tags: list[Tag] = []
        if is_here and self.actor.input is InputType.GROUP:
            tags.append(("e", CHANNEL, "", "root"))
        elif parent:
            tags.append(("e", self.roots[parent.id], "", "root"))
        if parent and ("e", parent.id, "", "root") not in tags:
            tags.append(("e", parent.id, "", "reply"))
        people = {parent.author: None} if parent else {}
        if is_here and self.actor.input is InputType.MENTIONS:
            people[key_of(ME)] = None
        return (*tags, *(("p", key) for key in people))

    def _cites(self, said: Said) -> tuple[Tag, ...]:
        cited = [("e", self.by_name[name].id, "", "mention") for name in said.cites]
        return (*cited, *(("t", topic) for topic in said.topics))

    def names(self) -> dict[str, str]:
        return {event.id: name for name, event in self.by_name.items()}

    def of(self, said: Iterable[Said]) -> list[Event]:
        return [self.by_name[one.id] for one in said]


def _keep(tx: sqlite3.Connection, situation: Situation, hosted: HostedGana, events: _Events) -> Turn:
    known = [one for one in situation.notes if one.where is Where.KNOWN]
    set_manas(tx, MANAS, "", [Rule("note", event.id) for event in events.of(known)])
    people = [one.by for one in situation.said if one.by != ME]
    _hear(tx, [_profile(name) for name in dict.fromkeys(people)])
    before = [one for one in situation.notes if one.where is not Where.WAITING]
    _hear(tx, events.of(before))
    for one in situation.notes:
        note = note_by_id(tx, events.by_name[one.id].id)
        if one.memory and note:
            remember(tx, note, one.memory, "", NOW)
    turn_on(tx, hosted.id, NOW - 86_400)
    _hear(tx, events.of(situation.turn))
    _hear(tx, events.of(one for one in situation.notes if one.where is Where.WAITING))
    # Guards ask whether somebody is a bot; here everybody was looked up.
    mark_checked(tx, {key_of(name) for name in people}, NOW)
    notes = tuple(_note(tx, event.id) for event in events.of(situation.turn))
    surface = hosted.surface or TIMER
    return Turn(hosted.id, surface, notes, None if notes else NOW, 1)


def _hear(tx: sqlite3.Connection, events: Iterable[Event]) -> None:
    keep(tx, [Heard(event, "", NOW) for event in events])


def _note(tx: sqlite3.Connection, note_id: str) -> Note:
    found = note_by_id(tx, note_id)
    if found is None:
        raise ValueError(f"{note_id} was not kept")
    return found


def _profile(name: str) -> Event:
    author, content = key_of(name), json.dumps({"name": name})
    draft = Draft(0, content, (), NOW - 86_400)
    return Event(event_id(author, draft), author, draft.created_at, 0, (), content, b"{}")
