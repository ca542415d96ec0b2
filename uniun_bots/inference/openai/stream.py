"""Server-sent events, whatever way the network cut them."""

from __future__ import annotations

import re

from uniun_bots.errors import EngineLost

LONGEST_LINE_BYTES = 4 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n|\n|\r(?=[^\n])")


class EventReader:
    """`feed` gives the data of the events that are whole now; comments and other fields are passed over."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        if len(self._rest) > LONGEST_LINE_BYTES:
            raise EngineLost(f"the server sent a line of more than {LONGEST_LINE_BYTES} bytes")
        return [event for line in lines if (event := self._take(line.decode("utf-8", "replace"))) is not None]

    def _take(self, line: str) -> str | None:
        if not line:
            event, self._data = "\n".join(self._data) or None, []
            return event
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        return None

    def end(self) -> list[str]:
        """What stood in front of the end without an empty line behind it."""
        rest, self._rest = self._rest.decode("utf-8", "replace").rstrip("\r"), b""
        found = [self._take(rest), self._take("")] if rest else [self._take("")]
        return [event for event in found if event is not None]
