"""A project folder with its skills: what `check` tells of it, and what a host takes from it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from uniun_bots.database.store import FILE
from uniun_bots.errors import ConfigError, Fault
from uniun_bots.host.identities import key_file_faults
from uniun_bots.host.model_files import model_faults
from uniun_bots.host.probing import complaints, verdicts, with_measured_rounds
from uniun_bots.personas.draft_files import read_draft_files
from uniun_bots.personas.project import Project, Report, check_project, load_project
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import load_skills

log = logging.getLogger(__name__)


def check_folder(folder: Path) -> tuple[Report, Library]:
    """Every fault of every file, broken skills among them."""
    library = load_skills(folder)
    report = check_project(folder, library.complaints)
    measured = list(_measured(report.project)) if report.project else []
    refused = [fault for is_refused, fault in measured if is_refused]
    low = [fault for is_refused, fault in measured if not is_refused]
    faults = tuple(sorted({*report.faults, *library.faults, *refused}))
    outside = _files_beside(report.project) if report.project else ()
    warnings = tuple(sorted({*report.warnings, *library.warnings, *low, *outside}))
    return replace(
        report, faults=faults, warnings=warnings, project=None if faults else report.project
    ), library


def _files_beside(project: Project) -> Iterator[Fault]:
    """Of the files that a project names: markdown of its Manas, models, keys."""
    yield from read_draft_files(project.manas, project.manas_folder).faults
    yield from model_faults(project)
    yield from key_file_faults(project)


def _measured(project: Project) -> Iterator[tuple[bool, Fault]]:
    return complaints(project, verdicts(project, project.data_dir / FILE))


def load_folder(folder: Path) -> tuple[Project, Library]:
    """Raises ConfigError with every fault of every other file: a broken skill is left out, and all else goes on."""
    library = load_skills(folder)
    project = load_project(folder, library.complaints)
    return _usable(project, library), library


def load_to_host(folder: Path) -> tuple[Project, Library]:
    """Raises ConfigError for what `check` refuses: also for agentic Ganas on a model that was measured as too weak.

    A persona that says `mode: off` and is not complete keeps nobody else from running: it is left out.
    """
    library = load_skills(folder)
    report = check_project(folder, library.complaints)
    if report.without_unfinished is None:
        raise ConfigError(report.faults)
    for fault in report.faults:
        log.warning("persona left out, it is off: %s", fault)
    project = _usable(report.without_unfinished, library)
    if refused := [fault for is_refused, fault in _measured(project) if is_refused]:
        raise ConfigError(refused)
    return project, library


def _usable(project: Project, library: Library) -> Project:
    """Tells in the log what is left out."""
    for fault in library.faults:
        log.error("skill left out: %s", fault)
    for name, why in library.disabled.items():
        log.warning("skill disabled: %s: %s", name, why)
    return with_measured_rounds(project, verdicts(project, project.data_dir / FILE))
