"""The answer of a server, put together from its events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost
from uniun_bots.inference.completion import Finish

DONE = "[DONE]"
MOST_CHARS = 4_000_000
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "stop",
    "function_call": "stop",
}


class ErrorInside(Exception):
    """An error object instead of a piece; it goes to whoever can tell what it means."""

    def __init__(self, found: Any) -> None:
        self.text = json.dumps(found)
        super().__init__(self.text)


@dataclass(slots=True)
class Answer:
    """`take` and `take_object` return the new text. Raise EngineLost for what is no answer, ErrorInside."""

    text: str = ""
    finish: Finish | None = None
    pieces: int = 0
    first_word_at: float | None = None
    """By the monotonic clock."""
    prompt_tokens: int | None = None
    reused_tokens: int = 0
    generated_tokens: int | None = None

    @property
    def is_untouched(self) -> bool:
        """Whether nothing came at all."""
        return not self.text and self.finish is None

    def take(self, event: str) -> str:
        if event.strip() == DONE:
            return ""
        try:
            found = json.loads(event)
        except (ValueError, RecursionError):
            raise EngineLost(f"the server sent what is not JSON: {event[:80]!r}") from None
        return self.take_object(found)

    def take_object(self, found: Any) -> str:
        if not isinstance(found, dict):
            raise EngineLost(f"the server sent JSON that is no answer: {json.dumps(found)[:80]}")
        if found.get("error") or found.get("object") == "error":
            raise ErrorInside(found)
        self._take_usage(found)
        return self._take_choice(found)

    def whole(self) -> Finish:
        """Raises EngineLost when the end of it is missing."""
        if self.finish is None:
            told = f"after {len(self.text)} characters" if self.text else "before its first word"
            raise EngineLost(f"the server ended in the middle of its answer, {told}")
        return self.finish

    def _take_choice(self, found: dict[str, Any]) -> str:
        choices = found.get("choices")
        if not choices:
            if "choices" in found or "usage" in found:
                return ""
            raise EngineLost(f"the server sent JSON that is no answer: {json.dumps(found)[:80]}")
        try:
            choice = choices[0]
            said = choice.get("delta") or choice.get("message") or {}
            piece, why = said.get("content") or "", choice.get("finish_reason")
            self._add(piece)
        except (AttributeError, KeyError, TypeError, IndexError):
            raise EngineLost(f"the server sent a choice that cannot be read: {str(choices)[:80]}") from None
        if why is not None:
            self._end(str(why))
        return str(piece)

    def _add(self, piece: str) -> None:
        self.text += piece
        self.pieces += bool(piece)
        if self.text and self.first_word_at is None:
            self.first_word_at = monotonic()
        if len(self.text) > MOST_CHARS:
            raise EngineLost(f"the server does not stop: {len(self.text)} characters")

    def _end(self, why: str) -> None:
        if why not in _FINISH:
            raise EngineLost(f"the server broke the answer off: {why}")
        self.finish = _FINISH[why]

    def _take_usage(self, found: dict[str, Any]) -> None:
        """`usage` is everybody's, `timings` llama-server's."""
        usage, timings = _mapping(found.get("usage")), _mapping(found.get("timings"))
        cached = _whole(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
        if (cached := cached if cached is not None else _whole(timings.get("cache_n"))) is not None:
            self.reused_tokens = cached
        if (prompt := _whole(usage.get("prompt_tokens"))) is not None:
            self.prompt_tokens = prompt
        if (generated := _whole(usage.get("completion_tokens"))) is not None:
            self.generated_tokens = generated


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
