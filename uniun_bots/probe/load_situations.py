"""Read the situations that come with the package."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from uniun_bots.errors import ConfigError
from uniun_bots.personas.coherence import Clash
from uniun_bots.personas.reading import Schema, read_model, with_clashes
from uniun_bots.personas.sheet import Loc
from uniun_bots.personas.shown import shown
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.personas.yaml_reader import read_yaml
from uniun_bots.probe.situation import Situation, SituationFile

FILE = Path(__file__).parent / "situations.yaml"
_SCHEMA = Schema(
    model=SituationFile,
    given={},
    stand_ins={"ganas": {}, "situations": []},
    missing={"right": "write `right: {publish: false}`"},
    unwritable={},
)


@cache
def situations() -> SituationFile:
    return load_situations(FILE)


def load_situations(path: Path) -> SituationFile:
    """Raises ConfigError with every fault."""
    source = read_text_file(path)
    if source.text is None:
        raise ConfigError(source.faults)
    sheet = read_yaml(source.text, str(path))
    reading = read_model(_SCHEMA, sheet)
    reading = with_clashes(
        reading, sheet, list(_clashes(reading.value)) if reading.value else [], source.faults
    )
    if reading.value is None or reading.faults:
        raise ConfigError(reading.faults)
    return reading.value


def _clashes(file: SituationFile) -> Iterator[Clash]:
    names: set[str] = set()
    for number, one in enumerate(file.situations):
        loc: Loc = ("situations", number)
        if one.name in names:
            yield _clash((*loc, "name"), f"{shown(one.name)} stands there twice: rename one")
        names.add(one.name)
        if one.gana not in file.ganas:
            yield _clash((*loc, "gana"), f"no Gana {shown(one.gana)}: write one of {', '.join(file.ganas)}")
        elif (file.actor(one).input is None) == bool(one.turn):
            yield _clash(loc, "needs a `turn`, unless its Gana has no `input`: then it has none")
        yield from (_clash(loc, message) for message in _unknown_notes(one))


def _unknown_notes(one: Situation) -> Iterator[str]:
    known = [said.id for said in one.said]
    named = [*one.right.cites]
    for said in one.said:
        named += [*said.cites, *([said.answers] if said.answers else [])]
    for call in one.right.calls:
        named += call.arguments.get("note", ())
    for name in dict.fromkeys(named):
        if name not in known:
            yield f"no note {shown(name)} in {shown(one.name)}"
    if len(set(known)) < len(known):
        yield f"two notes of {shown(one.name)} have the same id"


def _clash(loc: Loc, message: str) -> Clash:
    return Clash(loc, message, frozenset({"situations", "ganas"}))
