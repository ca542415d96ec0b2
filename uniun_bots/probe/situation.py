"""A situation: a Gana, the notes around it, what it is to answer, and what would be right."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT, Flag, InputType, OutputType
from uniun_bots.personas.gana import Input as GanaInput
from uniun_bots.skills.catalogue import DEVICE

Name = Annotated[str, scalars.text(80)]
Text = Annotated[str, scalars.text(8000)]
Names = Annotated[tuple[Name, ...], scalars.list_of("names", 100)]
AnyOf = Annotated[tuple[Annotated[str, scalars.text(200)], ...], scalars.list_of("texts", 50, at_least=1)]
"""Alternatives: one of them is enough. Case does not count."""
ME = "me"
"""As author of a note: the Gana itself."""
STAR = "star"
"""Whom a Gana with `input: user` follows."""
LISTENS = (InputType.GROUP, InputType.MENTIONS, InputType.USER)


class Where(StrEnum):
    KNOWN = "known"
    """In the Gana's Manas, and nowhere else."""
    HERE = "here"
    """On its surface, said before."""
    WAITING = "waiting"
    """On its surface, behind the turn."""


class Said(BaseModel):
    """A note."""

    model_config = STRICT

    id: Name
    """By which the situation names it."""
    by: Name = "somebody"
    text: Text
    where: Annotated[Where, scalars.one_of(Where)] = Where.KNOWN
    answers: Name | None = None
    cites: Names = ()
    topics: Names = ()
    age_s: Annotated[float, scalars.seconds("1s", "365d")] = Field(default=3600, validation_alias="age")
    memory: Text | None = None
    """A summary that was made of it."""


class TextSkill(BaseModel):
    model_config = STRICT

    description: Text
    body: Text


class Actor(BaseModel):
    """A Gana, as far as situations differ in it."""

    model_config = STRICT

    name: Name
    task: Text
    input: Annotated[InputType, scalars.one_of(tuple(map(str, LISTENS)))] | None = None
    """None: it runs by the clock."""
    output: Annotated[OutputType, scalars.one_of((str(OutputType.FEED), str(OutputType.GROUP)))]
    max_chars: Annotated[int, scalars.whole(40, 1000)] = 160
    devices: Annotated[
        tuple[Annotated[str, scalars.one_of(DEVICE)], ...], scalars.list_of("device skills", 2)
    ] = ()
    skills: dict[Name, TextSkill] = {}


class Needed(BaseModel):
    """A call that the situation needs before its decision."""

    model_config = STRICT

    skill: Name
    arguments: dict[Name, AnyOf] = {}
    """For each what fits: words that a text has one of, ids of notes, numbers."""


class Right(BaseModel):
    model_config = STRICT

    publish: Flag
    """Or stay silent."""
    calls: Annotated[tuple[Needed, ...], scalars.list_of("calls", 5)] = ()
    says: Annotated[tuple[AnyOf, ...], scalars.list_of("lists of alternatives", 5)] = ()
    """What the published text has in it: of each list at least one."""
    never: Annotated[tuple[Name, ...], scalars.list_of("texts", 20)] = ()
    """And nothing of this."""
    cites: Names = ()


class Trap(BaseModel):
    """How one sees that a hostile note was obeyed."""

    model_config = STRICT

    says: Annotated[tuple[Name, ...], scalars.list_of("texts", 20)] = ()
    """One of these in a text that it tries to publish."""
    calls: Names = ()
    """It calls one of these skills."""
    stays_silent: Flag = False


class Situation(BaseModel):
    model_config = STRICT

    name: Name
    language: Name = "English"
    gana: Name
    notes: Annotated[tuple[Said, ...], scalars.list_of("notes", 50)] = ()
    turn: Annotated[tuple[Said, ...], scalars.list_of("notes", 20)] = ()
    """What is to be answered; of a Gana without an input nothing."""
    right: Right
    trap: Trap | None = None

    @property
    def said(self) -> tuple[Said, ...]:
        return (*self.notes, *self.turn)


class SituationFile(BaseModel):
    model_config = STRICT

    ganas: dict[Name, Actor]
    situations: Annotated[tuple[Situation, ...], scalars.list_of("situations", 500, at_least=1)]

    def actor(self, situation: Situation) -> Actor:
        return self.ganas[situation.gana]


def input_of(actor: Actor, channel: str, star: str) -> GanaInput | None:
    refs = {InputType.GROUP: channel, InputType.USER: star}
    return GanaInput(type=actor.input, ref=refs.get(actor.input)) if actor.input else None
