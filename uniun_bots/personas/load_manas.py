"""Read one `manas/<name>.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.personas.coherence import Clash
from uniun_bots.personas.draft_file import SUFFIXES
from uniun_bots.personas.manas import Manas, Named
from uniun_bots.personas.names import name_fault
from uniun_bots.personas.reading import Reading, Schema, read_model, with_clashes
from uniun_bots.personas.shown import shown
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.personas.yaml_reader import read_yaml


def load_manas(path: Path, instead: Path | None = None) -> Reading[Manas]:
    """`instead`: what may soon stand in `path`."""
    source = read_text_file(instead or path)
    faults = source.faults
    if wrong_name := name_fault(path):
        faults = (Fault(str(path), 1, 1, wrong_name), *faults)
    if source.text is None:
        return Reading(None, faults, frozenset())
    schema = Schema(
        model=Manas,
        given={"name": path.stem, "file": str(path)},
        stand_ins={},
        missing={},
        unwritable={"name": ": the file's name is the name of the Manas", "file": ""},
    )
    sheet = read_yaml(source.text, str(path))
    reading = read_model(schema, sheet)
    clashes = list(_clashes(reading.value, path.parent)) if reading.value else []
    return with_clashes(reading, sheet, clashes, faults)


def _clashes(manas: Manas, folder: Path) -> Iterator[Clash]:
    for number, written in enumerate(manas.files):
        if told := _file_fault(folder / Path(written).expanduser(), written):
            yield Clash(("files", number), told, frozenset({"files"}))
    for key in Named.model_fields:
        for number, value in enumerate(getattr(manas.exclude, key)):
            if value in getattr(manas, key):
                told = f"{shown(value)} stands in `{key}` and in `exclude`: keep one"
                yield Clash(("exclude", key, number), told, frozenset({"exclude", key}))


def _file_fault(path: Path, written: str) -> str | None:
    if path.is_dir():
        return None
    if not path.is_file():
        return f"there is no {shown(written)} in {path.parent}: write a markdown file or a folder"
    if path.suffix.lower() not in SUFFIXES:
        return f"{shown(written)} is no markdown file: {' or '.join(SUFFIXES)} are read"
    return None
