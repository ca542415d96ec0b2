"""A project folder, read as a whole: settings, Ganas, Manas and relay sets, or all that is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from uniun_bots.errors import ConfigError, Fault, NotFound
from uniun_bots.personas.across import (
    Complaints,
    Written,
    doubles,
    gana_faults,
    no_complaints,
    relay_set_messages,
)
from uniun_bots.personas.defaults import with_defaults
from uniun_bots.personas.gana import Gana, Mode
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.personas.load_manas import load_manas
from uniun_bots.personas.load_relay_set import bundled_relay_sets, load_relay_set
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.manas import Manas
from uniun_bots.personas.names import files_in
from uniun_bots.personas.relay_set import RelaySet
from uniun_bots.personas.settings import HostSettings


@dataclass(frozen=True, slots=True)
class Project:
    folder: Path
    settings: HostSettings
    ganas: tuple[Gana, ...]
    relay_sets: dict[str, RelaySet]
    """Those of the folder and those that come with the package, by name."""
    manas: tuple[Manas, ...] = ()

    @property
    def manas_folder(self) -> Path:
        return self.folder / "manas"

    @property
    def data_dir(self) -> Path:
        return self.settings.data_folder(self.folder)

    def gana(self, name: str) -> Gana:
        """Raises NotFound."""
        for gana in self.ganas:
            if gana.id == name:
                return gana
        known = ", ".join(gana.id for gana in self.ganas)
        raise NotFound(f"there is no persona {name}; there are: {known or 'none'}")

    def relays_of(self, gana: Gana) -> RelaySet:
        return self.relay_sets[gana.relays or self.settings.relays]


@dataclass(frozen=True, slots=True)
class Report:
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]
    project: Project | None
    """None when there are faults."""
    without_unfinished: Project | None = None
    """What there is to host when all faults are in persona files that say `mode: off`: everything but these."""


def no_project(folder: Path) -> tuple[Fault, ...]:
    """Empty for a project folder."""
    if (folder / "host.yaml").exists() or (folder / "personas").is_dir():
        return ()
    told = "is no project folder: it has no host.yaml and no personas/; `uniun-bots init DIR` makes one"
    return (Fault(str(folder), 1, 1, told),)


def load_project(folder: str | os.PathLike[str], complaints: Complaints = no_complaints) -> Project:
    """Raises ConfigError with every fault of every file."""
    report = check_project(folder, complaints)
    if report.project is None:
        raise ConfigError(report.faults)
    return report.project


def check_project(folder: str | os.PathLike[str], complaints: Complaints = no_complaints) -> Report:
    """`complaints` know the skills, which are read a room above this one."""
    root = Path(folder)
    if missing := no_project(root):
        return Report(missing, (), None)
    reader = _FolderReader(root, complaints, [], [])
    project = reader.read()
    faults = tuple(sorted(set(reader.faults)))
    hostable = None if any(fault.file not in reader.off for fault in faults) else project
    return Report(
        faults,
        tuple(sorted(reader.warnings)),
        None if faults else project,
        _without(hostable, {Path(fault.file).stem for fault in faults}),
    )


def _without(project: Project | None, unfinished: set[str]) -> Project | None:
    if project is None or not unfinished:
        return project
    return replace(project, ganas=tuple(gana for gana in project.ganas if gana.id not in unfinished))


@dataclass(slots=True)
class _FolderReader:
    root: Path
    complaints: Complaints
    faults: list[Fault]
    warnings: list[Fault]
    off: set[str] = field(default_factory=set)
    """Persona files that say `mode: off`: a host has no need of them."""

    def read(self) -> Project | None:
        self.faults += self._misnamed()
        own, names = self._relay_sets()
        sets = bundled_relay_sets() | own
        known_sets = {*names, *sets}
        settings = self._settings(known_sets)
        manas, known_manas = self._manas()
        written = self._ganas()
        for found in written:
            self.faults += gana_faults(found, settings, sets, known_sets, known_manas, self.complaints)
        self.warnings += doubles(written)
        if settings is None:
            return None
        ganas = tuple(with_defaults(found.gana, settings.defaults) for found in written)
        return Project(self.root, settings, ganas, sets, manas)

    def _settings(self, known_sets: set[str]) -> HostSettings | None:
        path = self.root / "host.yaml"
        reading, sheet = load_settings(path)
        self.faults += reading.faults
        if reading.value is not None and "relays" not in reading.broken:
            messages = relay_set_messages(reading.value.relays, known_sets)
            told = [sheet.fault(("relays",), m) if sheet else Fault(str(path), 1, 1, m) for m in messages]
            self.faults += told
        return reading.value

    def _relay_sets(self) -> tuple[dict[str, RelaySet], set[str]]:
        paths = files_in(self.root / "relays", ".yaml")
        readings = [load_relay_set(path) for path in paths]
        self.faults += [fault for reading in readings for fault in reading.faults]
        sound = [found.value for found in readings if found.value is not None and not found.faults]
        return {found.name: found for found in sound}, {path.stem for path in paths}

    def _manas(self) -> tuple[tuple[Manas, ...], set[str]]:
        """And the names of those that may be faulty."""
        paths = files_in(self.root / "manas", ".yaml")
        readings = [load_manas(path) for path in paths]
        self.faults += [fault for reading in readings for fault in reading.faults]
        found = tuple(one.value for one in readings if one.value is not None and not one.faults)
        empty = "names nothing: write `files:`, `authors:`, `notes:`, `topics:`, `groups:` or `addresses:`"
        self.warnings += [Fault(one.file, 1, 1, empty) for one in found if one.is_empty]
        return found, {path.stem for path in paths}

    def _ganas(self) -> list[Written]:
        found: list[Written] = []
        first: dict[str, Path] = {}
        for path in files_in(self.root / "personas", ".md", ".yaml"):
            reading, sheet = load_gana(path)
            self.faults += reading.faults
            if path.stem in first:
                told = f"`{path.stem}` is taken by {first[path.stem].name}: rename one of them"
                self.faults.append(Fault(str(path), 1, 1, told))
            first.setdefault(path.stem, path)
            if reading.value is not None and sheet is not None:
                found.append(Written(reading.value, sheet, reading.broken))
                says_off = reading.value.mode is Mode.OFF and "mode" in {*sheet.tree} - reading.broken
                if says_off and first[path.stem] == path:
                    self.off.add(str(path))
        return found

    def _misnamed(self) -> Iterator[Fault]:
        """`.yml` files would be passed over without a word."""
        folders = (self.root, self.root / "personas", self.root / "manas", self.root / "relays")
        for path in (path for folder in folders for path in files_in(folder, ".yml")):
            if path.parent != self.root or path.stem == "host":
                told = f"only .yaml is read: rename it to {path.stem}.yaml"
                yield Fault(str(path), 1, 1, told)
