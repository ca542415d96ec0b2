"""Change what a Manas file names and nothing else in it: comments, order and spelling stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from uniun_bots.errors import ConfigError, Fault
from uniun_bots.personas.load_manas import load_manas
from uniun_bots.personas.manas import Manas, Named
from uniun_bots.personas.replace_file import replace_file
from uniun_bots.personas.shown import shown
from uniun_bots.personas.yaml_lists import with_entry, without_entry

Entries = Mapping[str, Sequence[str]]
"""By key, such as `authors`, as people write them."""


def add_to_manas(path: Path, entries: Entries, *, excluded: bool = False) -> int:
    """How many were not named before. Makes the file when there is none.

    Raises ConfigError, and changes nothing then.
    """
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
    old = _load(path) if path.exists() else Manas(name=path.stem, file=str(path))
    place, text, added = _part(old, excluded), _text(path), 0
    for key, written in entries.items():
        known = list(getattr(place, key))
        for one in written:
            if (value := _normal(path, key, one)) not in known:
                text = with_entry(text, ("exclude", key) if excluded else (key,), one)
                known.append(value)
                added += 1
        place = place.model_copy(update={key: tuple(known)})
    if added:
        _replace(path, text, place, excluded)
    return added


def remove_from_manas(path: Path, entries: Entries, *, excluded: bool = False) -> int:
    """How many were named. Raises ConfigError, and changes nothing then."""
    place, text, removed = _part(_load(path), excluded), _text(path), 0
    for key, written in entries.items():
        known = list(getattr(place, key))
        for one in written:
            while (value := _normal(path, key, one)) in known:
                text = without_entry(text, ("exclude", key) if excluded else (key,), known.index(value))
                known.remove(value)
                removed += 1
        place = place.model_copy(update={key: tuple(known)})
    if removed:
        _replace(path, text, place, excluded)
    return removed


def _part(manas: Manas, excluded: bool) -> Named:
    return manas.exclude if excluded else manas


def _load(path: Path) -> Manas:
    reading = load_manas(path)
    if reading.value is None or reading.faults:
        raise ConfigError(reading.faults)
    return reading.value


def _text(path: Path) -> str:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _normal(path: Path, key: str, written: str) -> str:
    """As the model keeps it. Raises ConfigError."""
    try:
        found: tuple[str, ...] = getattr(Named.model_validate({key: [written]}), key)
    except ValidationError as error:
        told = "; ".join(str(one.get("ctx", {}).get("error", one["msg"])) for one in error.errors())
        raise ConfigError([Fault(str(path), 1, 1, f"{key}: {shown(written)} {told}")]) from None
    return found[0]


def _replace(path: Path, text: str, wanted: Named, excluded: bool) -> None:
    """Only when the new file says exactly what is wanted."""

    def check(written: Path) -> None:
        reading = load_manas(path, written)
        found = _part(reading.value, excluded) if reading.value else None
        same = found and all(getattr(found, key) == getattr(wanted, key) for key in Named.model_fields)
        if reading.faults or not same:
            by_hand = Fault(str(path), 1, 1, "cannot be changed by a program: change it by hand")
            raise ConfigError(reading.faults or [by_hand])

    replace_file(path, text, check)
