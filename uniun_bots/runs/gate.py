"""The text gate: the last look at a body before it is pinned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from uniun_bots.inference.sanitize import spells_bytes
from uniun_bots.nostr.secret import spells_a_secret
from uniun_bots.runs.shorten import shorten

OVERLAP_CHARS = 60
"""So many characters in a row of the prompt's rules or task are no coincidence."""

ECHO_CHARS = 8

_QUOTE_MARK = re.compile(r"^>(?: |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gate:
    """What a body is held against."""

    max_chars: int
    prompt_texts: tuple[str, ...] = ()
    """The rules and the task, of which nothing long may be said aloud."""
    prompt_lines: frozenset[str] = frozenset()
    """Lines of the prompt; a body that has one of them as a line of its own is an echo."""
    last_reply: str | None = None
    is_secret: Callable[[str], bool] = field(default=spells_a_secret)
    """Whether a text spells a secret key; the host adds the keys that it holds."""


@dataclass(frozen=True, slots=True)
class Passed:
    body: str


@dataclass(frozen=True, slots=True)
class Refused:
    reason: str
    """For people; never repeats what was refused."""


def pass_gate(body: str, gate: Gate) -> Passed | Refused:
    if not body.strip():
        return Refused("the text is empty")
    if gate.is_secret(body):
        return Refused("the text spells a secret key")
    if spells_bytes(body):
        return Refused("the text is in byte letters: the model's tokenizer does not fit it")
    if calls_a_tool(body):
        return Refused("the text is a tool call, not an answer")
    if any(len(line) >= ECHO_CHARS and line in gate.prompt_lines for line in lines_of(body)):
        return Refused("the text repeats its prompt")
    if overlaps(body, gate.prompt_texts):
        return Refused("the text repeats the instructions")
    body = _without_quote_marks(body)
    fitting = body if len(body) <= gate.max_chars else shorten(body, gate.max_chars)
    if fitting is None:
        return Refused(f"the text has {len(body)} characters and no sentence ends within {gate.max_chars}")
    if gate.last_reply is not None and _words(fitting) == _words(gate.last_reply):
        return Refused("the text repeats the last reply")
    return Passed(fitting)


def _without_quote_marks(body: str) -> str:
    """A prompt shows what others wrote line by line behind `>`; own words in that form are a copied habit."""
    lines = [line for line in body.splitlines() if line.strip()]
    return _QUOTE_MARK.sub("", body).strip() if all(_QUOTE_MARK.match(line) for line in lines) else body


def calls_a_tool(text: str) -> bool:
    """Whether a JSON object anywhere in the text names something to run, or the whole text is JSON."""
    return any(_is_call(value) for value in _json_objects(text)) or _is_json(text)


_DECODER = json.JSONDecoder()
_CALL_NAMES = frozenset({"tool", "name", "function", "action", "skill", "tool_name", "tool_calls"})
_CALL_ARGUMENTS = frozenset({"arguments", "parameters", "args", "input", "action_input", "tool_calls"})


def _is_call(value: dict[str, object]) -> bool:
    return bool(value.keys() & _CALL_NAMES) and bool(value.keys() & _CALL_ARGUMENTS)


def _json_objects(text: str) -> Iterator[dict[str, object]]:
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        if isinstance(value, dict):
            yield value
        at = text.find("{", end)


def _is_json(text: str) -> bool:
    inner = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if inner[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(inner), dict | list)
    except (ValueError, RecursionError):
        return False


def overlaps(body: str, texts: Sequence[str], chars: int = OVERLAP_CHARS) -> bool:
    """Whether body and one of the texts share that many characters in a row, case and spacing aside."""
    said = _plain(body)
    pieces = {said[at : at + chars] for at in range(len(said) - chars + 1)}
    return bool(pieces) and any(
        plain[at : at + chars] in pieces
        for plain in map(_plain, texts)
        for at in range(len(plain) - chars + 1)
    )


def lines_of(text: str) -> list[str]:
    return [line for line in map(_plain, text.splitlines()) if line]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold()) or text.split()
