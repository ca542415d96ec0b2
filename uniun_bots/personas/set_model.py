"""Change the `model:` of host.yaml and nothing else in it: comments, order and spelling stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from uniun_bots.errors import ConfigError, Fault
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.replace_file import replace_file
from uniun_bots.personas.settings import HostSettings

_MODEL = re.compile(
    r"^(model:[ \t]+)(\"[^\"\n]*\"|'[^'\n]*'|[^\s#][^\n]*?)(?=[ \t]*(?:[ \t]#[^\n]*)?$)", re.MULTILINE
)
_EMPTY = re.compile(r"^\{[ \t]*\}[ \t]*$", re.MULTILINE)
# Where the file that `init` writes shows the default.
_COMMENT = re.compile(r"^# ?model:[^\n]*\n", re.MULTILINE)
# All in one pair of braces, or the value on a line of its own.
_ODD = re.compile(r"^\{(?![ \t]*\})|^model:[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z][\w./:@+-]*", re.ASCII)


def set_model(path: Path, model: str, first: Callable[[], None] | None = None) -> bool:
    """False when the file says so already. Raises ConfigError, and then the file is as it was.

    `first` is called when the change is known to work and not made yet; what it raises stops it.
    """
    old = _settings(path)
    if old.model == model:
        if first:
            first()
        return False
    by_hand = Fault(
        str(path), 1, 1, f"cannot be changed by a program: write `model: {model}` into it by hand"
    )

    def check(written: Path) -> None:
        reading, _ = load_settings(written)
        if reading.value != old.model_copy(update={"model": model}) or reading.faults:
            faults = [Fault(str(path), fault.line, fault.column, fault.message) for fault in reading.faults]
            raise ConfigError(faults or [by_hand])
        if first:
            first()

    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if _ODD.search(text):
        raise ConfigError([by_hand])
    replace_file(path, _changed(text, _spelled(model)), check)
    return True


def _changed(text: str, spelled: str) -> str:
    if found := _MODEL.search(text):
        return text[: found.start(2)] + spelled + text[found.end(2) :]
    line = f"model: {spelled}"
    if found := _EMPTY.search(text):
        return text[: found.start()] + line + text[found.end() :]
    if found := _COMMENT.search(text):
        return f"{text[: found.end()]}{line}\n{text[found.end() :]}"
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"


def _spelled(model: str) -> str:
    return model if _PLAIN.fullmatch(model) else "'" + model.replace("'", "''") + "'"


def _settings(path: Path) -> HostSettings:
    reading, _ = load_settings(path)
    if reading.value is None or reading.faults:
        raise ConfigError(reading.faults)
    return reading.value
