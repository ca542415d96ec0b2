"""Write one more persona file into a project folder."""

from __future__ import annotations

import re
from pathlib import Path

from uniun_bots.errors import AlreadyThere, NotFound
from uniun_bots.personas.names import LONGEST, is_name
from uniun_bots.personas.new_project import TEMPLATES
from uniun_bots.personas.replace_file import replace_file
from uniun_bots.personas.shown import shown

ENDINGS = (".md", ".yaml")


def new_persona(folder: Path, name: str) -> Path:
    """The file it wrote: the example under this name, turned off. Raises NotFound and AlreadyThere."""
    check_free(folder, name)
    return write_persona(folder, name, _named(name))


def check_free(folder: Path, name: str) -> None:
    """Raises NotFound for what is no name, AlreadyThere for one that is taken."""
    if not is_name(name):
        raise NotFound(f"{shown(name)} is no name of a persona: 1 to {LONGEST} of a-z, 0-9 and single `-`")
    for path in (folder / "personas" / f"{name}{ending}" for ending in ENDINGS):
        if path.exists() or path.is_symlink():
            raise AlreadyThere(str(path))


def write_persona(folder: Path, name: str, text: str) -> Path:
    """A new file, whole or not at all; never over another one."""
    check_free(folder, name)
    target = folder / "personas" / f"{name}.md"
    target.parent.mkdir(exist_ok=True)
    replace_file(target, text)
    return target


def _named(name: str) -> str:
    text = (TEMPLATES / "example.md").read_text(encoding="utf-8")
    title = name.replace("-", " ").title()[:60].strip()
    text = text.replace("name: Example", f'name: "{title}"')
    text = text.replace("EXAMPLE_NSEC", f"{name.replace('-', '_').upper()}_NSEC")
    return re.sub(r"\b(key:|keys new )example\b", rf"\g<1>{name}", text)
