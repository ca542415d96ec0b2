"""An answer as it is written: whatever may still turn out to be no part of it is held back."""

from __future__ import annotations

import re
from collections.abc import Callable

from uniun_bots.chat.telling import Again, Piece, Tell

_OPENERS = "<[({|`"
_CLOSERS = {"<": ">", "[": "]", "(": ")", "{": "}", "|": "|", "`": "`"}
LONGEST_MARK = 100
"""Characters after which an opened bracket is taken for text."""
_WRAPPED = re.compile(r"\s*(?:[{\"“„«「『”]|```)")
"""An answer that begins so may be something in quotes or in JSON, which only its end tells."""


class Streaming:
    """Hears raw pieces of a model and tells pieces of the answer. Nothing that was told is ever wrong in the end:
    where the answer came out otherwise, it is told again as a whole."""

    def __init__(self, tell: Tell, read: Callable[[str], str]) -> None:
        """`read`: what a text comes to that is not at its end yet."""
        self._tell, self._read = tell, read
        self._raw = self.told = ""

    def hear(self, piece: str) -> None:
        self._raw += piece
        if piece and not _WRAPPED.match(self._raw):
            self._go_on(settled(self._read(self._raw)))

    def anew(self) -> None:
        """The model begins again."""
        self._raw = ""
        if self.told:
            self.told = ""
            self._tell(Again())

    def end(self, answer: str) -> None:
        """The whole of it is known now."""
        if not answer.startswith(self.told):
            self.anew()
        self._go_on(answer)

    def _go_on(self, text: str) -> None:
        if len(text) > len(self.told) and text.startswith(self.told):
            self._tell(Piece(text[len(self.told) :]))
            self.told = text


def settled(text: str) -> str:
    """Without its last word, which may go on, and without a bracket that is still open."""
    end = max((at for at, char in enumerate(text) if char.isspace()), default=0)
    return text[: min(end, _open_bracket(text))].rstrip()


def _open_bracket(text: str) -> int:
    """Where the first one stands that is not closed; the end of the text without one."""
    start = max(0, len(text) - LONGEST_MARK)
    for at in range(start, len(text)):
        if text[at] in _OPENERS and _CLOSERS[text[at]] not in text[at + 1 :]:
            return at
    return len(text)
