"""A markdown file as a draft: its text, and what its frontmatter says of it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.nostr.references import normal_topic
from uniun_bots.personas.frontmatter import FIRST_LINE, split_frontmatter
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.personas.yaml_reader import read_yaml

SUFFIXES = (".md", ".markdown")
MOST_TOPICS = 100


@dataclass(frozen=True, slots=True)
class DraftFile:
    path: str
    """Relative to the folder `manas/`, with `/`: the draft goes by it."""
    text: str
    """With its title on top."""
    created_at: int
    """`date` of the frontmatter, else when the file was changed last; Unix seconds."""
    topics: tuple[str, ...]
    digest: str
    """Of the file's text: by it a change is seen."""


def draft_id(path: str) -> str:
    """64 hex characters that no event can have but by chance, and the same for as long as the path is."""
    return hashlib.sha256(f"draft\0{path}".encode(errors="surrogatepass")).hexdigest()


def draft_paths(manas_folder: Path, written: Iterable[str]) -> list[Path]:
    """The markdown files that these name; a folder stands for everything in it, but hidden files."""
    found: dict[Path, None] = {}
    for name in written:
        path = manas_folder / Path(name).expanduser()
        found.update(dict.fromkeys(_files_below(path) if path.is_dir() else [path]))
    return list(found)


def relative(path: Path, manas_folder: Path) -> str:
    return Path(os.path.relpath(path, manas_folder)).as_posix()


def read_draft(path: Path, manas_folder: Path) -> tuple[DraftFile | None, tuple[Fault, ...]]:
    """None when it cannot be read, or has no words. Frontmatter is read kindly: other programs wrote it."""
    if not _is_utf8(str(path)):
        return None, (Fault(str(path), 1, 1, "has a name that is not UTF-8: rename it"),)
    source = read_text_file(path)
    if source.text is None or source.faults:
        return None, source.faults
    text, said = _frontmatter(source.text)
    title = _line(said.get("title"))
    if title and not _begins_with(text, title):
        text = f"# {title}\n\n{text}"
    if not text.strip():
        return None, ()
    dated = _second(said.get("date"))
    draft = DraftFile(
        path=relative(path, manas_folder),
        text=text.strip(),
        created_at=int(path.stat().st_mtime) if dated is None else dated,
        topics=_topics(said.get("tags")),
        digest=hashlib.sha256(source.text.encode(errors="surrogatepass")).hexdigest(),
    )
    return draft, ()


def _is_utf8(name: str) -> bool:
    """What is not is half a surrogate pair in Python, and has no place in the database."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _files_below(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _frontmatter(text: str) -> tuple[str, dict[str, object]]:
    try:
        parts = split_frontmatter(text)
    except ValueError:
        return text, {}
    sheet = read_yaml(parts.yaml, "", FIRST_LINE)
    return parts.body, sheet.tree


def _line(value: object) -> str:
    return " ".join(value.split())[:300] if isinstance(value, str) else ""


def _begins_with(text: str, title: str) -> bool:
    first = text.lstrip().split("\n", 1)[0]
    return _line(first.lstrip("# ")).casefold() == title.casefold()


def _topics(value: object) -> tuple[str, ...]:
    """A list, or words with commas or spaces between them."""
    words = re.split(r"[,\s]+", value) if isinstance(value, str) else value
    if not isinstance(words, list):
        return ()
    topics = (normal_topic(word) for word in words if isinstance(word, str))
    return tuple(dict.fromkeys(found for found in topics if found))[:MOST_TOPICS]


def _second(value: object) -> int | None:
    """A day or a time, in UTC unless it says otherwise."""
    try:
        found = datetime.fromisoformat(str(value).strip())
        at = found if found.tzinfo else found.replace(tzinfo=UTC)
        return max(0, int(at.timestamp()))
    except (ValueError, OverflowError):
        return None
