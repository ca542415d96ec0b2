"""Whether the model files that host.yaml names are there and whole, before the first input has to wait for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.inference.catalogue import look
from uniun_bots.personas.coherence_of_settings import is_engine_name
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.project import Project
from uniun_bots.personas.settings import DEFAULT_ENGINE, EngineType, HostSettings

Place = tuple[str, ...]
"""Keys of host.yaml, from the top."""


def model_places(settings: HostSettings) -> Iterator[tuple[str, str, Place]]:
    """Reference, the engine that runs it, and where host.yaml says so."""
    if not is_engine_name(settings.model):
        yield settings.model, DEFAULT_ENGINE, ("model",)
    for name, engine in settings.engines.items():
        if engine.type is EngineType.LLAMA and engine.model:
            yield engine.model, name, ("engines", name, "model")


def model_faults(project: Project, but_for: Collection[str] = ()) -> Iterator[Fault]:
    """`but_for`: engines that somebody made otherwise."""
    settings, folder = project.settings, project.folder
    host_yaml = folder / "host.yaml"
    for reference, engine, place in model_places(settings):
        if engine not in but_for and (told := look(reference, folder, settings.models_folder(folder)).fault):
            yield _fault(host_yaml, place, f"{told}; whoever needs this model waits for it")


def _fault(host_yaml: Path, place: Place, message: str) -> Fault:
    _, sheet = load_settings(host_yaml)
    return sheet.fault(place, message) if sheet else Fault(str(host_yaml), 1, 1, message)
