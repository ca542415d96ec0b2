"""Bytes of tokens to text, as they come."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Collects bytes; text that a stop string could still begin in is held back."""

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop = tuple(text for text in stop if text)
        self._sent = 0
        self.text = ""
        self.stopped = False

    def feed(self, data: bytes, last: bool = False) -> str:
        """The text that is certain now. A broken end becomes one U+FFFD, when `last`."""
        if self.stopped:
            return ""
        self.text += self._decoder.decode(data, last)
        found = [at for stop in self._stop if (at := self.text.find(stop)) >= 0]
        if found:
            self.text, self.stopped = self.text[: min(found)], True
        certain = len(self.text) if last or self.stopped else len(self.text) - self._held_back()
        piece, self._sent = self.text[self._sent : certain], max(self._sent, certain)
        return piece

    def _held_back(self) -> int:
        ends = (
            size
            for stop in self._stop
            for size in range(1, min(len(stop), len(self.text) + 1))
            if self.text.endswith(stop[:size])
        )
        return max(ends, default=0)
