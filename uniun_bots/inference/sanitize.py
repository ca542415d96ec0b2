"""From what a model wrote to what it said.

Everything here takes away: the result is a piece of the text that came in, but for three decodings
(byte letters, JSON escapes, characters that no text may hold).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from uniun_bots.inference.completion import Finish
from uniun_bots.inference.marks import THINK_TAGS, TOOL_TAGS, TURN_HEADS, TURN_TOKENS


class Removed(StrEnum):
    BYTE_LETTERS = "byte letters decoded"
    THINKING = "thinking"
    OPEN_THINKING = "thinking that never ended"
    TURN_MARK = "what follows a turn mark"
    TOOL_CALL = "a tool call"
    WRAPPER = "a JSON wrapper"
    SPEAKER = "the speaker's name in front"
    QUOTES = "quotes around the whole"
    CONTROL = "characters that no text may hold"


@dataclass(frozen=True, slots=True)
class Cleaned:
    text: str
    """What may be said; empty when there is no answer in it."""
    removed: tuple[Removed, ...]
    """In the order it was found."""

    @property
    def is_unfinished_thinking(self) -> bool:
        return not self.text and Removed.OPEN_THINKING in self.removed


_FINAL_CHANNEL = "<|channel|>final<|message|>"

_TOOL_MARK = re.compile(rf"{TOOL_TAGS}|```tool_(?:code|call)\b")
_TURN_MARK = re.compile(
    rf"{TURN_TOKENS}|{TURN_HEADS}|^(?:User|Human): (?=.*^(?:Assistant|AI): )", re.MULTILINE | re.DOTALL
)
_THINK_TAG = re.compile(THINK_TAGS, re.IGNORECASE)
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL | re.IGNORECASE)
_WRAPPER_KEYS = frozenset(
    {"reply", "response", "answer", "text", "content", "message", "output", "body", "post", "note"}
)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"), ("”", "”"))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def sanitize(text: str, finish: Finish, speaker: str = "") -> Cleaned:
    """Clean one completion; `speaker` is the name that the model may have put in front of its words."""
    removed: list[Removed] = []
    steps: list[Callable[[str], tuple[str, Removed | None]]] = [
        _without_control,
        _from_byte_letters,
        _final_channel,
        _before_first_mark,
        lambda text: _without_thinking(text, finish),
        _unwrapped,
        lambda text: _without_speaker(text, speaker),
        _without_quotes,
    ]
    # What was inside a wrapper may need the same again; each round that changes something shortens the text.
    while True:
        before = text
        for step in steps:
            text, what = step(text)
            text = text.strip()
            if what is not None:
                removed.append(what)
        if text == before:
            return Cleaned(text, tuple(dict.fromkeys(removed)))


def without_thinking(text: str, finish: Finish) -> str:
    """What stands outside of all thinking; nothing when the thinking never ended."""
    return _without_thinking(_final_channel(text)[0], finish)[0]


def _without_control(text: str) -> tuple[str, Removed | None]:
    """Join surrogate pairs, replace lone halves, drop the control characters that are not white space."""
    if not _CONTROL.search(text):
        return text, None
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", whole), Removed.CONTROL


def _byte_letters() -> dict[str, int]:
    """The alphabet in which GPT-2 style vocabularies spell bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(rest)}


_BYTE_LETTERS = _byte_letters()
_BYTE_SPACE_INSIDE = re.compile(r"[^\sA-Z_ĠĊ][ĠĊ]")


def spells_bytes(text: str) -> bool:
    """Whether the text has spaces spelled as byte letters: Ġ in mid-word, which no language writes."""
    return len(_BYTE_SPACE_INSIDE.findall(text)) >= 2


def _from_byte_letters(text: str) -> tuple[str, Removed | None]:
    if not spells_bytes(text) or any(letter not in _BYTE_LETTERS for letter in text):
        return text, None
    try:
        return bytes(_BYTE_LETTERS[letter] for letter in text).decode(), Removed.BYTE_LETTERS
    except UnicodeDecodeError:
        return text, None


def _final_channel(text: str) -> tuple[str, Removed | None]:
    _, mark, final = text.rpartition(_FINAL_CHANNEL)
    return (final, Removed.THINKING) if mark else (text, None)


def _before_first_mark(text: str) -> tuple[str, Removed | None]:
    """A tool call makes the whole an unfinished turn; any other mark ends what was said."""
    tool, turn = _TOOL_MARK.search(text), _first_turn_mark(text)
    if tool and (turn is None or tool.start() <= turn):
        return "", Removed.TOOL_CALL
    return (text[:turn], Removed.TURN_MARK) if turn is not None else (text, None)


def _first_turn_mark(text: str) -> int | None:
    found = [mark.start()] if (mark := _TURN_MARK.search(text)) else []
    # `</s>` ends a turn, unless it closes an `<s>` of HTML.
    if (end := text.find("</s>")) >= 0 and "<s>" not in text[:end]:
        found.append(end)
    return min(found, default=None)


def _without_thinking(text: str, finish: Finish) -> tuple[str, Removed | None]:
    """The last piece outside of all thinking. A closing tag alone closes what the template opened."""
    tags = list(_THINK_TAG.finditer(text))
    if not tags:
        return text, None
    pieces, depth, start = [""], 0, 0
    for tag in tags:
        closing = bool(tag[1] or tag[2])
        if depth == 0:
            pieces = [""] if closing else [*pieces, text[start : tag.start()]]
        depth = max(0, depth - 1) if closing else depth + 1
        start = tag.end()
    if depth == 0:
        pieces.append(text[start:])
    said = next((piece for piece in reversed(pieces) if piece.strip()), "")
    if depth == 0:
        return said, Removed.THINKING
    return ("" if finish == "length" else said), Removed.OPEN_THINKING


def _unwrapped(text: str) -> tuple[str, Removed | None]:
    inner = fence[1].strip() if (fence := _FENCE.match(text)) else text
    if not (inner.startswith("{") and inner.endswith("}")):
        return text, None
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return text, None
    if len(value) != 1:
        return text, None
    [(key, said)] = value.items()
    return (said, Removed.WRAPPER) if key in _WRAPPER_KEYS and isinstance(said, str) else (text, None)


def _without_speaker(text: str, speaker: str) -> tuple[str, Removed | None]:
    found = _named_in_front(speaker.strip()).match(text)
    return (text[found.end() :], Removed.SPEAKER) if found else (text, None)


@lru_cache
def _named_in_front(speaker: str) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in ("assistant", speaker) if name)
    return re.compile(rf"(?:\*\*)?(?:{names})(?:\*\*)?\s?[:：](?:\*\*)?(?:\s+|$)", re.IGNORECASE)


def _without_quotes(text: str) -> tuple[str, Removed | None]:
    for opening, closing in _QUOTES:
        inner = text[1:-1]
        if len(text) > 2 and text[0] == opening and text[-1] == closing:
            if opening in inner or closing in inner:
                return text, None
            return inner, Removed.QUOTES
    return text, None
