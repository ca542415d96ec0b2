"""Write one more persona file into a project folder."""

from __future__ import annotations

import re
from pathlib import Path

from uniun_bots.errors import AlreadyThere, NotFound
from uniun_bots.personas.names import LONGEST, is_name
from uniun_bots.personas.new_project import TEMPLATES
from uniun_bots.personas.shown import shown

ENDINGS = (".md", ".yaml")


def new_persona(folder: Path, name: str) -> Path:
    """The file it wrote: the example under this name, turned off. Raises NotFound and AlreadyThere."""
    if not is_name(name):
        raise NotFound(f"{shown(name)} is no name of a persona: 1 to {LONGEST} of a-z, 0-9 and single `-`")
    personas = folder / "personas"
    for path in (personas / f"{name}{ending}" for ending in ENDINGS):
        if path.exists() or path.is_symlink():
            raise AlreadyThere(str(path))
    personas.mkdir(exist_ok=True)
    target = personas / f"{name}.md"
    with target.open("x", encoding="utf-8") as opened:
        opened.write(_named(name))
    return target


def _named(name: str) -> str:
    text = (TEMPLATES / "example.md").read_text(encoding="utf-8")
    title = name.replace("-", " ").title()[:60].strip()
    text = text.replace("name: Example", f'name: "{title}"')
    text = text.replace("EXAMPLE_NSEC", f"{name.replace('-', '_').upper()}_NSEC")
    return re.sub(r"\b(key:|keys new )example\b", rf"\g<1>{name}", text)
