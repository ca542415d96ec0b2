"""The rows of Manas and drafts follow their files before a command looks at them, here or in the running host."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from uniun_bots.cli.folder import act, read_store
from uniun_bots.clock import WallClock
from uniun_bots.graph import manas
from uniun_bots.graph.bring_manas import bring_manas
from uniun_bots.personas.draft_files import read_draft_files
from uniun_bots.personas.project import Project, load_project


def bring_up(folder: Path) -> Project:
    """Raises ConfigError."""
    project = load_project(folder)
    act(folder, "/manas", {}, unit_of(project))
    return project


def unit_of(project: Project) -> Callable[[sqlite3.Connection], None]:
    files, at = read_draft_files(project.manas, project.manas_folder), WallClock().now()

    def unit(tx: sqlite3.Connection) -> None:
        bring_manas(tx, project.manas, files, at)

    return unit


def check_manas(folder: Path, named: Sequence[str]) -> None:
    """Brings the named ones up to their files. Raises NotFound for one that has none, and ConfigError."""
    if named:
        bring_up(folder)
        read_store(folder, lambda tx: manas.check_manas(tx, named))
