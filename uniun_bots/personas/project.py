"""A project folder, read: settings, Ganas and the relay sets they name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from uniun_bots.personas.gana import Gana
from uniun_bots.personas.relay_set import RelaySet
from uniun_bots.personas.settings import HostSettings


@dataclass(frozen=True, slots=True)
class Project:
    folder: Path
    settings: HostSettings
    ganas: tuple[Gana, ...]
    relay_sets: dict[str, RelaySet]
    """Those of the folder and those that come with the package, by name."""

    @property
    def data_dir(self) -> Path:
        return self.folder / Path(self.settings.data_dir).expanduser()

    def relays_of(self, gana: Gana) -> RelaySet:
        return self.relay_sets[gana.relays or self.settings.relays]
