"""The engine contract: what every way of running a model must offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from uniun_bots.inference.completion import Completion
from uniun_bots.inference.request import Message, Request

OnPiece = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    model: str
    """The model reference it was loaded from."""
    context_tokens: int
    slots: int
    """Requests it can run side by side."""


class Engine(Protocol):
    async def info(self) -> EngineInfo:
        """What the model takes, without loading it where that can be told. Raises what loading raises."""
        ...

    async def load(self) -> EngineInfo:
        """Make the model ready; the second call returns at once. For the seat: nobody else may take the memory.

        Raises NoModel, EngineLost.
        """
        ...

    async def count(self, messages: Sequence[Message]) -> int:
        """Prompt tokens that these messages become, template included. Exact, or too many where nothing can tell.

        Like `info` it may be asked at any time, whatever is loaded.
        """
        ...

    async def generate(self, request: Request, on_piece: OnPiece | None = None) -> Completion:
        """One inference. Cancelling the awaiting task stops the model; raises PromptTooLong, EngineLost.

        `on_piece` gets each bit of text as soon as it is certain; empty ones while the prompt is read.
        """
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Seated(Protocol):
    """An engine that takes turns with others: of those with the same seat one runs at a time."""

    seat: str


@runtime_checkable
class Unloadable(Protocol):
    async def unload(self) -> None:
        """Give the memory back; `load` brings the model in again."""
        ...


@runtime_checkable
class Switchable(Protocol):
    async def use(self, model: str) -> EngineInfo:
        """Load another model instead. Raises ModelNotFound, ModelUnusable, and then the old one stays."""
        ...
