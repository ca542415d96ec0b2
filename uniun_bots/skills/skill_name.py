"""The name of a skill, as agentskills.io wants it, read from a file."""

from __future__ import annotations

import re
from typing import Any

import yaml

from uniun_bots.personas.names import LONGEST, is_name
from uniun_bots.personas.scalars import Bare
from uniun_bots.personas.shown import shown

_TEXT = "tag:yaml.org,2002:str"
_NUMBER = re.compile(r"\d+e\d+|0o[0-7]+")
"""In YAML 1.2, which PyYAML does not read."""


def skill_name(value: object) -> str:
    """Raises ValueError with a message for people."""
    if not isinstance(value, str):
        raise ValueError("must be text: write one name")
    if isinstance(value, Bare) and not _is_text_to_everybody(value):
        raise ValueError(
            f"must be text, and other readers take {shown(value)} for something else: write it in quotes"
        )
    if not is_name(value):
        raise ValueError(
            f"must be 1 to {LONGEST} of a-z, 0-9 and single `-` between them, not {shown(value)}{_unlike(value)}"
        )
    return str(value)


def _is_text_to_everybody(value: str) -> bool:
    """Whether a YAML reader with types of its own, as other programs have one, finds text as well."""
    resolver: Any = yaml.SafeLoader("")
    return not _NUMBER.fullmatch(value) and bool(
        resolver.resolve(yaml.ScalarNode, str(value), (True, False)) == _TEXT
    )


def _unlike(value: str) -> str:
    """The first letter that is none of ours, named, since it may look like one."""
    odd = next((char for char in value if not char.isascii()), None)
    return f": it has the character U+{ord(odd):04X}, which is not plain ASCII" if odd else ""
