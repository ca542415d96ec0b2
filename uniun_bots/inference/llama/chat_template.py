"""Messages to prompt text by the model's own chat template, in pieces.

A template's own text may hold control tokens, the content of a message may not. So the template is
rendered with a sentinel in the place of each content, and the result is cut at the sentinels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from uniun_bots.inference.request import Message

# For a model without a template, or with one that we cannot render: ChatML.
FALLBACK = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>{{ '\n' }}"
    "{% endfor %}{{ '<|im_start|>assistant\n' }}"
)
FALLBACK_STOP = ("<|im_end|>", "<|im_start|>")
# Private use characters: no template spells them.
_SENTINEL = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_template: bool
    """Whether control strings in it are control tokens."""


class ChatTemplate:
    def __init__(self, source: str | None, bos: str = "", eos: str = "") -> None:
        self._tokens = {"bos_token": bos, "eos_token": eos}
        self._environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        self._environment.globals["raise_exception"] = _refuse
        self._environment.globals["strftime_now"] = lambda form: ""
        self._source = source
        self.is_fallback = source is None or self._cannot_render(source)

    def pieces(self, messages: Sequence[Message]) -> tuple[Piece, ...]:
        if self._source is not None and not self.is_fallback:
            for attempt in (messages, _system_merged(messages)):
                try:
                    return self._render(self._source, attempt)
                except (TemplateError, TypeError, ValueError):
                    continue
        return self._render(FALLBACK, messages)

    def _cannot_render(self, source: str) -> bool:
        question = (Message("user", "?"),)
        try:
            self._render(source, question)
        except (TemplateError, TypeError, ValueError):
            return True
        return False

    def _render(self, source: str, messages: Sequence[Message]) -> tuple[Piece, ...]:
        """Raises ValueError when the template drops, doubles or reorders a message."""
        marked = [{"role": message.role, "content": f"\ue000{n}\ue001"} for n, message in enumerate(messages)]
        text = self._environment.from_string(source).render(
            messages=marked, add_generation_prompt=True, **self._tokens
        )
        parts = _SENTINEL.split(text)
        if parts[1::2] != [str(n) for n in range(len(messages))]:
            raise ValueError("the chat template does not show each message once, in order")
        pieces = [Piece(parts[0], True)]
        for message, after in zip(messages, parts[2::2], strict=True):
            pieces += [Piece(message.content, False), Piece(after, True)]
        return tuple(piece for piece in pieces if piece.text)


def _system_merged(messages: Sequence[Message]) -> tuple[Message, ...]:
    """For templates that know no system role: its text goes in front of the first user message."""
    system = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not system or not others or others[0].role != "user":
        return tuple(messages)
    first = Message("user", "\n\n".join([*system, others[0].content]))
    return first, *others[1:]


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
