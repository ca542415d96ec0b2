"""Read `relays/<name>.yaml`, and find the sets that come with the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.personas.coherence import Clash
from uniun_bots.personas.names import files_in, name_fault
from uniun_bots.personas.reading import Reading, Schema, read_model, with_clashes
from uniun_bots.personas.relay_set import RelaySet
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.personas.yaml_reader import read_yaml

_PACKAGE = Path(__file__).parent.parent


def load_relay_set(path: Path) -> Reading[RelaySet]:
    source = read_text_file(path)
    faults = source.faults
    if wrong_name := name_fault(path):
        faults = (Fault(str(path), 1, 1, wrong_name), *faults)
    if source.text is None:
        return Reading(None, faults, frozenset())
    schema = Schema(
        model=RelaySet,
        given={"name": path.stem},
        stand_ins={},
        missing={
            "relays": "write `relays:` and below it `  - wss://relay.example`",
            "url": "write `url: wss://…`",
        },
        unwritable={"name": ": the file's name is the name of the set"},
    )
    sheet = read_yaml(source.text, str(path))
    reading = read_model(schema, sheet)
    return with_clashes(reading, sheet, list(_clashes(reading.value)), faults)


def _clashes(found: RelaySet | None) -> Iterator[Clash]:
    first: dict[str, int] = {}
    for at, relay in enumerate(found.relays if found else ()):
        if (before := first.setdefault(relay.url, at)) != at:
            told = f"`relays` entries {before + 1} and {at + 1} are the same relay: keep one"
            yield Clash(("relays", at), told, frozenset({"relays"}))
        if not relay.read and not relay.write:
            told = (
                f"`relays` entry {at + 1} is neither read nor written: remove it, or one of the two `false`"
            )
            yield Clash(("relays", at), told, frozenset({"relays"}))


def bundled_folder(name: str) -> Path | None:
    """A folder that comes with the package: in the wheel beside the code, in a clone at its top."""
    if (bundled := _PACKAGE / "bundled" / name).is_dir():
        return bundled
    clone = _PACKAGE.parent
    return clone / name if (clone / "pyproject.toml").is_file() and (clone / name).is_dir() else None


def bundled_relay_sets() -> dict[str, RelaySet]:
    folder = bundled_folder("relays")
    readings = [load_relay_set(path) for path in files_in(folder, ".yaml")] if folder else []
    return {found.value.name: found.value for found in readings if found.value and not found.faults}
