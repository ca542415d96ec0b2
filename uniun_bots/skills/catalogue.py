"""The predefined skills: the name of each file in the package's skills/, and what it is bound to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from uniun_bots.personas.gana import InputType, OutputType
from uniun_bots.skills.arguments import (
    About,
    Arguments,
    Nothing,
    OfNote,
    OfThread,
    Page,
    Post,
    Query,
    RemindMe,
    ShareExternal,
)


class Role(StrEnum):
    KNOWLEDGE = "knowledge"
    INPUT = "input"
    OUTPUT = "output"
    DEVICE = "device"
    TEXT = "text"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class Builtin:
    role: Role
    arguments: type[Arguments]


STAY_SILENT = "stay-silent"
ANSWER_NOW = "answer-now"
"""Ends the rounds of Shiv, who then answers in words."""
READ_THREAD = "read-thread"
KNOWLEDGE = ("search-notes", "expand-graph", "get-memories", "read-note")
DEVICE = ("remind-me", "share-external")
READING = {
    InputType.GROUP: "read-group-input",
    InputType.PRIVATE_GROUP: "read-private-group-input",
    InputType.DM: "read-dm-input",
    InputType.USER: "read-user-input",
    InputType.FOLLOWED_NOTE: "read-followed-note-input",
    InputType.MENTIONS: "read-mentions-input",
}
PUBLISHING = {
    OutputType.FEED: "publish-feed-note",
    OutputType.GROUP: "publish-group-message",
    OutputType.PRIVATE_GROUP: "publish-private-message",
    OutputType.DM: "send-dm",
}

BUILTINS: dict[str, Builtin] = {
    "search-notes": Builtin(Role.KNOWLEDGE, Query),
    "expand-graph": Builtin(Role.KNOWLEDGE, OfNote),
    "get-memories": Builtin(Role.KNOWLEDGE, About),
    "read-note": Builtin(Role.KNOWLEDGE, OfNote),
    **{name: Builtin(Role.INPUT, Page) for name in READING.values()},
    READ_THREAD: Builtin(Role.INPUT, OfThread),
    **{name: Builtin(Role.OUTPUT, Post) for name in PUBLISHING.values()},
    "remind-me": Builtin(Role.DEVICE, RemindMe),
    "share-external": Builtin(Role.DEVICE, ShareExternal),
    STAY_SILENT: Builtin(Role.SILENCE, Nothing),
    ANSWER_NOW: Builtin(Role.SILENCE, Nothing),
}
