"""Change the `mode:` of a persona file and nothing else in it: comments, order and spelling stay."""

from __future__ import annotations

import re
from pathlib import Path

from uniun_bots.personas.gana import Mode
from uniun_bots.personas.replace_file import replace_file

_MODE = re.compile(r"^(mode:[ \t]*)(\"[^\"]*\"|'[^']*'|[a-z]+)", re.MULTILINE)
_NAME = re.compile(r"^name:[^\n]*\n", re.MULTILINE)


def set_mode(path: Path, mode: Mode) -> bool:
    """False when the file says so already. The file is replaced whole, or not at all."""
    text = path.read_text(encoding="utf-8")
    head, rest = _split(text)
    if found := _MODE.search(head):
        if found.group(2).strip("'\"") == mode:
            return False
        head = head[: found.start(2)] + mode + head[found.end(2) :]
    else:
        name = _NAME.search(head)
        at = name.end() if name else head.find("\n") + 1
        head = f"{head[:at]}mode: {mode}\n{head[at:]}"
    replace_file(path, head + rest)
    return True


def _split(text: str) -> tuple[str, str]:
    """Frontmatter and body; a `.yaml` persona is all head."""
    if not text.lstrip("\ufeff").startswith("---"):
        return text, ""
    end = re.compile(r"^---[ \t]*$", re.MULTILINE).search(text, text.find("\n"))
    return (text[: end.start()], text[end.start() :]) if end else (text, "")
