"""The host's `defaults` under what a persona file leaves open."""

from __future__ import annotations

from pydantic import BaseModel

from uniun_bots.personas.gana import Gana
from uniun_bots.personas.settings import Defaults


def with_defaults(gana: Gana, defaults: Defaults) -> Gana:
    limits = gana.limits.model_copy(update=_open(gana.limits, defaults.limits))
    update = {name: value for name, value in _open(gana, defaults).items() if name != "limits"}
    return gana.model_copy(update={**update, "limits": limits})


def _open(written: BaseModel, defaults: BaseModel) -> dict[str, object]:
    """The defaults that are given, for the fields that the file does not set."""
    return {
        name: value
        for name in type(defaults).model_fields
        if name not in written.model_fields_set and (value := getattr(defaults, name)) is not None
    }
