"""A chat as lines of JSON: the question on its way to a host, and what is told while it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from uniun_bots.chat.answer import Answer, Source
from uniun_bots.chat.conversation import State
from uniun_bots.chat.question import Question
from uniun_bots.chat.telling import Again, Begun, Happening, Looked, Piece

Event = dict[str, Any]
HAPPENS = "happens"
ANSWER, FAULT = "answer", "fault"
_TOLD: dict[str, type[Happening]] = {"begun": Begun, "looked": Looked, "piece": Piece, "again": Again}
_NAMES = {kind: name for name, kind in _TOLD.items()}


def question_as_json(question: Question) -> Event:
    return asdict(question)


def question_from_json(asked: Mapping[str, Any]) -> Question:
    """Raises TypeError for what is no question."""
    given = dict(asked)
    for name in ("manas", "skills"):
        if given.get(name) is not None:
            given[name] = tuple(str(one) for one in given[name])
    question = Question(**given)
    if not isinstance(question.text, str) or not isinstance(question.conversation, int | None):
        raise TypeError("a question is a text, and a conversation a number")
    return question


def happening_as_json(happening: Happening) -> Event:
    return {HAPPENS: _NAMES[type(happening)], **asdict(happening)}


def happening_from_json(event: Event) -> Happening:
    given = dict(event)
    return _TOLD[given.pop(HAPPENS)](**given)


def answer_as_json(answer: Answer) -> Event:
    return {HAPPENS: ANSWER, **asdict(answer), "state": str(answer.state)}


def answer_from_json(event: Event) -> Answer:
    given = {name: value for name, value in event.items() if name != HAPPENS}
    for name in ("cited", "shown"):
        given[name] = tuple(Source(**one) for one in given[name])
    return Answer(**given | {"state": State(given["state"]), "notes": tuple(given["notes"])})
