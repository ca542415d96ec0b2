"""What a single value in a file may be. Each type reads text from a file and takes a Python value as it is.

Values come from files as text. Where it matters whether there were quotes, the reader gives `Bare` for plain
text; so `off` stays text for a text field, and only a bare `true` is a boolean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BeforeValidator

from uniun_bots.personas.shown import shown

_Number = TypeVar("_Number", int, float)


class Bare(str):
    """Text that stood in a file without quotes."""

    __slots__ = ()


@dataclass(frozen=True)
class Form(BeforeValidator):
    """How a value is read, and in words for the reference what may be written."""

    words: str = ""


_UNIT_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,9})(ms|s|m|h|d|w)")
_UNIT_BYTES = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"(\d{1,6})(KB|MB|GB)")
_WHOLE = re.compile(r"[+-]?\d{1,12}")
_NUMBER = re.compile(r"[+-]?(\d{1,12}(\.\d{0,12})?|\.\d{1,12})([eE][+-]?\d{1,2})?")
# Line breaks and tabs are text; other control characters never are.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def text(at_most: int) -> Form:
    """Text of 1 to `at_most` characters, spaces around it removed."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"must be text, not {_kind(value)}")
        found = str(value).strip()
        if not found:
            raise ValueError("must not be blank: write some text, or remove the line")
        if _CONTROL.search(found):
            raise ValueError("must not contain control characters")
        if len(found) > at_most:
            raise ValueError(f"has {len(found)} characters; at most {at_most} are allowed")
        return found

    return Form(read, words=f"text of at most {at_most:,} characters")


def flag() -> Form:
    def read(value: object) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, Bare) and value in ("true", "false"):
            return value == "true"
        if value in ("true", "false"):
            raise ValueError(f"must not be in quotes: write {value}")
        raise ValueError(f"must be true or false, not {shown(value)}")

    return Form(read, words="`true` or `false`")


def whole(at_least: int, at_most: int) -> Form:
    """An integer."""

    def read(value: object) -> int:
        return _whole(value, at_least, at_most)

    return Form(read, words=f"whole number from {at_least:,} to {at_most:,}")


def whole_or(word: str, stands_for: int, at_least: int, at_most: int) -> Form:
    """An integer, or a word that is read as `stands_for`."""

    def read(value: object) -> int:
        if value == word or (value == stands_for and not isinstance(value, str | bool)):
            return stands_for
        return _whole(value, at_least, at_most)

    return Form(read, words=f"whole number from {at_least:,} to {at_most:,}, or `{word}`")


def number(at_least: float, at_most: float) -> Form:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | Bare):
            raise ValueError(f"must be a number without quotes, not {shown(value)}")
        if isinstance(value, Bare) and not _NUMBER.fullmatch(value):
            raise ValueError(f"must be a number such as 0.7, not {shown(value)}")
        if not math.isfinite(found := float(value)):
            raise ValueError("must be a finite number")
        return _within(found, at_least, at_most)

    return Form(read, words=f"number from {at_least:g} to {at_most:g}")


def seconds(at_least: str, at_most: str) -> Form:
    """A duration such as `30m`; Python code gives seconds."""
    lowest, highest = _seconds(at_least), _seconds(at_most)

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(f"must be a duration such as 30m, not {_kind(value)}")
        if isinstance(value, str) and not _DURATION.fullmatch(value):
            hint = f": write the unit, such as {value}m" if re.fullmatch(r"\d{1,9}", value) else ""
            raise ValueError(f"must be a duration such as 30s, 30m, 12h or 1d, not {shown(value)}{hint}")
        found = _seconds(value) if isinstance(value, str) else float(value)
        if not lowest <= found <= highest:
            raise ValueError(f"must be between {at_least} and {at_most}, not {shown(value)}")
        return found

    return Form(read, words=f"duration from `{at_least}` to `{at_most}`")


def size(at_least: str, at_most: str) -> Form:
    """Memory such as `512MB`, with units of 1,000; Python code gives bytes."""
    lowest, highest = _bytes(at_least), _bytes(at_most)

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError(f"must be a size such as 512MB, not {_kind(value)}")
        if isinstance(value, str) and not _SIZE.fullmatch(value):
            hint = f": write the unit, such as {value}MB" if re.fullmatch(r"\d{1,6}", value) else ""
            raise ValueError(f"must be a size such as 512MB or 2GB, not {shown(value)}{hint}")
        found = _bytes(value) if isinstance(value, str) else value
        if not lowest <= found <= highest:
            raise ValueError(f"must be between {at_least} and {at_most}, not {shown(value)}")
        return found

    return Form(read, words=f"size from `{at_least}` to `{at_most}`")


def one_of(choices: type[StrEnum] | tuple[str, ...]) -> Form:
    words = [str(choice) for choice in choices]

    def read(value: object) -> str:
        if isinstance(value, str) and value in words:
            return str(value)
        close = get_close_matches(value, words, 1, 0.5) if isinstance(value, str) and len(value) < 80 else []
        raise ValueError(f"must be {_either(words)}, not {shown(value)}{did_you_mean(close)}")

    return Form(read, words=_either([f"`{word}`" for word in words]))


def list_of(what: str, at_most: int, at_least: int = 0) -> Form:
    """A list; its entries are read by their own type. A lone text is refused, never walked by letters."""

    def read(value: object) -> object:
        if not isinstance(value, list | tuple):
            example = (
                f": write [{value}]"
                if isinstance(value, str) and re.fullmatch(r"[\w.-]{1,40}", value)
                else ""
            )
            raise ValueError(f"must be a list of {what}{example}")
        if len(value) < at_least:
            raise ValueError(f"is empty: at least {at_least} of its {what} must be given")
        if len(value) > at_most:
            raise ValueError(f"has {len(value)} entries; at most {at_most} are allowed")
        return tuple(value)

    many = f"{at_least} to {at_most:,}" if at_least else f"at most {at_most:,}"
    return Form(read, words=f"list of {many} {what}")


def checked(read: Callable[[str], str], words: str) -> Form:
    """Text in a form of its own, which `words` name; `read` raises ValueError with a message for people."""

    def read_text(value: object) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"must be text, not {_kind(value)}")
        return read(str(value).strip())

    return Form(read_text, words=words)


def did_you_mean(close: list[str]) -> str:
    return f" (did you mean `{close[0]}`?)" if close else ""


def duration_s(written: str) -> float:
    """Seconds of a duration such as `15m`. Raises ValueError with a message for people."""
    if not _DURATION.fullmatch(written):
        raise ValueError(f"must be a duration such as 30s, 30m, 12h or 1d, not {shown(written)}")
    return _seconds(written)


def _seconds(duration: str) -> float:
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError("not a duration")
    return int(match[1]) * _UNIT_S[match[2]]


def _bytes(written: str) -> int:
    match = _SIZE.fullmatch(written)
    if match is None:
        raise ValueError("not a size")
    return int(match[1]) * _UNIT_BYTES[match[2]]


def _whole(value: object, at_least: int, at_most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | Bare):
        raise ValueError(f"must be a whole number without quotes, not {shown(value)}")
    if isinstance(value, Bare) and not _WHOLE.fullmatch(value):
        raise ValueError(f"must be a whole number such as {max(at_least, 20)}, not {shown(value)}")
    return _within(int(value), at_least, at_most)


def _within(value: _Number, at_least: float, at_most: float) -> _Number:
    if not at_least <= value <= at_most:
        raise ValueError(f"must be between {at_least} and {at_most}, not {shown(value)}")
    return value


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return "a number" if isinstance(value, int | float) else "nothing"
