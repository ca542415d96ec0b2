"""Read `host.yaml`; a folder without one has the defaults."""

from __future__ import annotations

from pathlib import Path

from uniun_bots.personas.coherence_of_settings import clashes_in_settings
from uniun_bots.personas.reading import Reading, Schema, read_model, with_clashes
from uniun_bots.personas.settings import HostSettings
from uniun_bots.personas.sheet import Sheet
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.personas.yaml_reader import read_yaml

_SCHEMA = Schema(
    model=HostSettings,
    given={},
    stand_ins={},
    missing={"type": "write `type: llama`, `type: openai` or `type: scripted`"},
    unwritable={},
)


def load_settings(path: Path) -> tuple[Reading[HostSettings], Sheet | None]:
    if not path.exists():
        return Reading(HostSettings(), (), frozenset()), None
    source = read_text_file(path)
    if source.text is None:
        return Reading(None, source.faults, frozenset()), None
    sheet = read_yaml(source.text, str(path))
    reading = read_model(_SCHEMA, sheet)
    clashes = clashes_in_settings(reading.value) if reading.value else []
    return with_clashes(reading, sheet, clashes, source.faults), sheet
