"""What a person is asked about: a verified event of somebody else, or a local file, through the same steps."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from uniun_bots import failpoints
from uniun_bots.errors import BadContent, Fault, NotText, Unresolved
from uniun_bots.nostr.event import Event
from uniun_bots.personas.shown import shown
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.sharing.event import SKILL, Form, Manifest, hash_of
from uniun_bots.sharing.fetch import Where, fetch
from uniun_bots.sharing.reference import read_wanted
from uniun_bots.sharing.verify import check_size, skill_of, verified_skill
from uniun_bots.skills.skill import Skill

SKILL_FILE = "SKILL.md"
_CODE = re.compile(
    r"\.(bash|bat|[cm]?jsx?|tsx?|class|cmd|dll|exe|fish|go|jar|lua|php|pl|ps1|pyc?|rb|rs|sh|so|wasm|zsh)",
    re.IGNORECASE,
)
_MOST_BESIDE = 1000


@dataclass(frozen=True, slots=True)
class Candidate:
    skill: Skill
    text: str
    source: str
    """The reference or the path that was given."""
    manifest: Manifest | None = None
    """None for a local file."""
    relays: tuple[str, ...] = ()
    """Which had it."""
    left_out: tuple[str, ...] = ()
    """Files that stand beside a local one and are not taken."""

    @property
    def name(self) -> str:
        return self.skill.name

    @property
    def content_hash(self) -> str:
        return hash_of(self.text)

    @property
    def event(self) -> Event | None:
        return self.manifest.event if self.manifest else None


def is_local(written: str) -> bool:
    """Whether this is meant as a path: it is there, or it looks like one."""
    looks = written.startswith((".", "/", "~")) or written.lower().endswith(".md")
    # Not Path.exists, which raises for what is too long to be a path, as references with a few relays are.
    return looks or os.path.exists(written)


async def look_up(
    where: Where,
    reference: str,
    now: float,
    form: Form = SKILL,
    author_of: Callable[[str], str | None] = lambda _: None,
) -> Candidate:
    """Resolved, fetched and verified. Raises SharingRefused of the step that failed."""
    fetched = await fetch(where, read_wanted(reference, form), form, author_of)
    found = verified_skill(fetched.event, now, fetched.deletions, form)
    failpoints.hit("verified")
    return Candidate(found.skill, found.manifest.text, reference, found.manifest, fetched.relays)


def read_local(path: Path) -> Candidate:
    """A skill file, or a folder with a SKILL.md and nothing that could be run. Raises SharingRefused."""
    path = path.expanduser()
    if not path.exists():
        raise Unresolved(f"there is no {path}")
    file, beside = (path / SKILL_FILE, tuple(_beside(path))) if path.is_dir() else (path, ())
    found = read_text_file(file)
    if found.text is None or found.faults:
        raise BadContent(found.faults or (Fault(str(file), 1, 1, "cannot be read"),))
    check_size(found.text)
    skill = skill_of(found.text, file.stem, str(file))
    return Candidate(skill, found.text, str(path.resolve()), left_out=beside)


def _beside(folder: Path) -> Iterator[str]:
    """What is not taken along. Raises NotText for what somebody meant to be run."""
    if not (folder / SKILL_FILE).is_file():
        raise Unresolved(f"{folder} has no {SKILL_FILE}: it is no skill")
    for count, (where, folders, files) in enumerate(os.walk(folder)):
        if count >= _MOST_BESIDE:
            raise NotText(f"{folder} has more than {_MOST_BESIDE} folders: a skill is one file")
        scripts = [name for name in folders if name.lower() in ("scripts", "bin", "hooks")]
        code = [name for name in files if _is_code(Path(where, name))]
        if found := [*scripts, *code]:
            raise NotText(
                f"{shown(os.path.join(where, found[0]), 100)} is meant to be run: skills are text here, and nothing of"
                f" one is ever run. If the text is good without it, install {SKILL_FILE} alone"
            )
        yield from (str(Path(where, name).relative_to(folder)) for name in files if name != SKILL_FILE)


def _is_code(path: Path) -> bool:
    return _CODE.fullmatch(path.suffix) is not None or (path.is_file() and os.access(path, os.X_OK))
