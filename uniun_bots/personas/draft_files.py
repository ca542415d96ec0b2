"""The markdown files that the Manas of a project name, read together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.personas.draft_file import DraftFile, draft_id, draft_paths, read_draft, relative
from uniun_bots.personas.manas import Manas

Look = frozenset[tuple[str, int, int]]
"""Path, time of the last change and size of each file: what a cheap look sees."""


@dataclass(frozen=True, slots=True)
class DraftFiles:
    drafts: tuple[DraftFile, ...]
    members: dict[str, tuple[str, ...]]
    """Ids of drafts, by the name of the Manas."""
    excluded: dict[str, tuple[str, ...]]
    faults: tuple[Fault, ...]
    """Files that are no drafts because of them."""


def read_draft_files(manas: Iterable[Manas], manas_folder: Path) -> DraftFiles:
    members = {one.name: draft_paths(manas_folder, one.files) for one in manas}
    excluded = {one.name: draft_paths(manas_folder, one.exclude.files) for one in manas}
    drafts: list[DraftFile] = []
    faults: list[Fault] = []
    for path in _all(members.values()):
        draft, told = read_draft(path, manas_folder)
        faults += told
        drafts += [draft] if draft else []
    return DraftFiles(
        tuple(drafts),
        {name: _ids(paths, manas_folder) for name, paths in members.items()},
        {name: _ids(paths, manas_folder) for name, paths in excluded.items()},
        tuple(faults),
    )


def look_at_draft_files(manas: Iterable[Manas], manas_folder: Path) -> Look:
    """Without opening a file."""
    seen = []
    for path in _all(draft_paths(manas_folder, one.files) for one in manas):
        try:
            found = path.stat()
        except OSError:
            # Gone since its folder was read, or an empty name: that is a change as well.
            continue
        seen.append((str(path), found.st_mtime_ns, found.st_size))
    return frozenset(seen)


def _all(paths: Iterable[Iterable[Path]]) -> list[Path]:
    """Each file once, also when it is named in two ways."""
    return list({path.resolve(): path for some in paths for path in some}.values())


def _ids(paths: Iterable[Path], manas_folder: Path) -> tuple[str, ...]:
    return tuple(draft_id(relative(path, manas_folder)) for path in paths)
