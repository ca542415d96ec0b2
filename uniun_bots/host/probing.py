"""Measure models on the situations of the probe, and say what the measurements mean for the Ganas of a project."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from uniun_bots.database.read_file import read_file
from uniun_bots.errors import EngineError, Fault, NotFound
from uniun_bots.host.engines import api_keys, make_engine
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.fingerprint import (
    Fingerprint,
    fingerprint_of_file,
    fingerprint_of_script,
    fingerprint_of_server,
)
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.personas.coherence_of_settings import is_engine_name
from uniun_bots.personas.gana import AUTO_ROUNDS
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.personas.project import Project
from uniun_bots.personas.settings import DEFAULT_ENGINE, EngineSettings, EngineType, HostSettings, JsonDialect
from uniun_bots.probe.load_situations import situations
from uniun_bots.probe.play import Stage
from uniun_bots.probe.played import Played, read_played
from uniun_bots.probe.probes import forget_plays, keep_play, probe_of
from uniun_bots.probe.scene import shown
from uniun_bots.probe.situation import SituationFile
from uniun_bots.probe.trust import Trust, Verdict, verdict

Keep = Callable[[str, Played], Awaitable[None]]
"""What the situation showed, and what was played."""
Tell = Callable[[str, int, int], None]
"""The situation that begins, how many plays are done, and how many there are to do."""


def settings_of_model(model: str, settings: HostSettings) -> EngineSettings:
    """`model`: a reference, an engine of host.yaml by its name, or `default`. Raises NotFound."""
    written = settings.model if model == DEFAULT_ENGINE else model
    if not is_engine_name(written):
        return EngineSettings(type=EngineType.LLAMA, model=written)
    if written not in settings.engines:
        known = ", ".join([DEFAULT_ENGINE, *settings.engines])
        raise NotFound(
            f"host.yaml has no engine {written}; there are: {known}. A model is named as in `model:`"
        )
    return settings.engines[written]


def fingerprint_of(model: str, settings: HostSettings, folder: Path) -> Fingerprint:
    """Raises NotFound, ModelNotFound, ModelUnusable."""
    engine = settings_of_model(model, settings)
    match engine.type:
        case EngineType.LLAMA:
            return fingerprint_of_file(engine.model or "", folder, settings.models_folder(folder))
        case EngineType.OPENAI:
            dialect = engine.json_dialect or JsonDialect.JSON_SCHEMA
            return fingerprint_of_server(engine.base_url or "", engine.model, str(dialect))
    return fingerprint_of_script(model)


def engine_of(model: str, settings: HostSettings, folder: Path, environ: Mapping[str, str]) -> Engine:
    """For measuring only; a host that runs has its own. Raises NotFound, ConfigError."""
    engine = settings_of_model(model, settings)
    named = settings.model_copy(update={"engines": {model: engine}})
    keys = api_keys(named, folder, environ)
    return make_engine(model, engine, folder, settings.models_folder(folder), keys.get(model))


async def play_missing(
    engine: Engine, file: SituationFile, runs: int, done: Collection[tuple[str, int]], keep: Keep, tell: Tell
) -> None:
    """Every situation `runs` times but for what is `done`, as many side by side as the engine can.

    Raises EngineError when the engine fails; what was kept before stays.
    """
    digests = await asyncio.to_thread(shown, file)
    wanted = [(number, one) for number in range(1, runs + 1) for one in file.situations]
    waiting = [(number, one) for number, one in wanted if (digests[one.name], number) not in done]
    queue, count = iter(waiting), len(wanted) - len(waiting)

    async def work(stage: Stage) -> None:
        nonlocal count
        for number, one in queue:
            tell(one.name, count, len(wanted))
            played = await stage.play(one, file.actor(one), number)
            if not played.ending.decides:
                raise EngineError(f"{one.name}: {played.reason}")
            await keep(digests[one.name], played)
            count += 1

    slots = (await engine.info()).slots
    async with Scheduler({DEFAULT_ENGINE: engine}) as scheduler:
        stage = Stage(scheduler, DEFAULT_ENGINE, engine)
        workers = [asyncio.create_task(work(stage)) for _ in range(slots)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


def as_asked(model: Fingerprint, digest: str, played: Played) -> dict[str, Any]:
    """For `carry_out`, here or in a running host."""
    return {
        "model": asdict(model) | {"facts": dict(model.facts)},
        "shown": digest,
        "situation": played.situation,
        "played": played.as_json(),
    }


def carry_out(tx: sqlite3.Connection, asked: Mapping[str, Any], now: float) -> None:
    if "forget" in asked:
        forget_plays(tx, str(asked["forget"]))
        return
    played = read_played(asked["played"], asked["situation"])
    keep_play(tx, Fingerprint(**asked["model"]), asked["shown"], played, now)


def verdicts(project: Project, file: Path) -> dict[str, Verdict]:
    """By Gana, for the agentic ones; without those whose engine is scripted. `file`: the store, if there is one yet."""
    settings, by_model = project.settings, dict[str, Verdict]()
    found: dict[str, Verdict] = {}
    for gana in (gana for gana in project.ganas if gana.agentic):
        model = gana.model if gana.model in settings.engines else DEFAULT_ENGINE
        if settings_of_model(model, settings).type is not EngineType.SCRIPTED:
            if model not in by_model:
                by_model[model] = _verdict(model, project, file)
            found[gana.id] = by_model[model]
    return found


def _verdict(model: str, project: Project, file: Path) -> Verdict:
    def query(tx: sqlite3.Connection) -> Any:
        # A folder that an older version wrote has no such table until a host opens it.
        has_table = tx.execute("SELECT 1 FROM sqlite_master WHERE name = 'probed_models'").fetchone()
        return probe_of(tx, fingerprint.key, situations()) if has_table else None

    found = None
    try:
        fingerprint = fingerprint_of(model, project.settings, project.folder)
        found = read_file(file, query) if file.exists() else None
    except EngineError:
        # Whatever is wrong with the model is told where it is loaded.
        found = None
    return verdict(found, model, project.settings.probe)


def complaints(project: Project, told: Mapping[str, Verdict]) -> Iterator[tuple[bool, Fault]]:
    """What `check` says of agentic Ganas; True with what is refused."""
    for gana in project.ganas:
        one = told.get(gana.id)
        if one is None or one.trust is Trust.ENOUGH:
            continue
        _, sheet = load_gana(Path(gana.file))
        message = f"`agentic`: {one.told}"
        fault = sheet.fault(("agentic",), message) if sheet else Fault(gana.file, 1, 1, message)
        yield one.trust is Trust.REFUSED, fault


def with_measured_rounds(project: Project, told: Mapping[str, Verdict]) -> Project:
    """`max_rounds: auto` becomes what was measured; where nothing was it stays."""
    ganas = tuple(
        gana.model_copy(update={"max_rounds": needed})
        if gana.max_rounds == AUTO_ROUNDS and gana.id in told and (needed := told[gana.id].rounds_needed)
        else gana
        for gana in project.ganas
    )
    return replace(project, ganas=ganas)
