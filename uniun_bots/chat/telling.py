"""What whoever asked hears while the answer is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """The question is kept; the answer will stand behind it."""

    conversation: int


@dataclass(frozen=True, slots=True)
class Looked:
    """One round of a deep answer."""

    skill: str
    arguments: str
    note: str


@dataclass(frozen=True, slots=True)
class Piece:
    """The next bit of the answer: the pieces since the last Again are its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Again:
    """What was heard of the answer so far is nothing; it begins anew."""


Happening = Begun | Looked | Piece | Again
Tell = Callable[[Happening], None]
