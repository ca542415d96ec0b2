"""A script of faults: which ones, and from when.

    seed: 7
    repeat: 60s            # optional: from the start again
    steps:
      - {at: 0s, delay: 50ms, duplicate: 0.1}
      - {at: 10s, refuse: true}
      - {at: 13s}          # no faults from here on

Each step replaces the one before it. The names are those of `Faults`.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from uniun_bots.errors import ConfigError
from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT
from uniun_bots.personas.reading import Schema, read_model
from uniun_bots.personas.text_file import read_text_file
from uniun_bots.personas.yaml_reader import read_yaml
from uniun_bots.relays.faults import Faults, Wait


class Step(Faults):
    at: Wait

    def faults(self) -> Faults:
        return Faults(**self.model_dump(exclude={"at"}))


class FaultScript(BaseModel):
    model_config = STRICT

    seed: Annotated[int, scalars.whole(0, 2**31 - 1)] = Field(default_factory=lambda: random.randrange(2**31))  # noqa: S311
    repeat: Annotated[float, scalars.seconds("1s", "1d")] | None = None
    steps: Annotated[tuple[Step, ...], scalars.list_of("steps", 1000, at_least=1)]

    @model_validator(mode="after")
    def _in_order(self) -> Any:
        times = [step.at for step in self.steps]
        if times != sorted(times):
            raise ValueError("its steps must stand in the order of their `at`")
        if self.repeat is not None and self.repeat <= times[-1]:
            raise ValueError("`repeat` must be later than the last step")
        return self


_SCHEMA = Schema(
    model=FaultScript,
    given={},
    stand_ins={"steps": ()},
    missing={"steps": "write `steps: [{at: 0s}]`", "at": "write `at: 0s`"},
    unwritable={},
)


def read_fault_script(path: Path) -> FaultScript:
    """Raises ConfigError with all faults of the file."""
    source = read_text_file(path)
    if source.text is None:
        raise ConfigError(source.faults)
    reading = read_model(_SCHEMA, read_yaml(source.text, str(path)))
    if reading.value is None or reading.faults or source.faults:
        raise ConfigError([*source.faults, *reading.faults])
    return reading.value
