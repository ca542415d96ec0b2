"""Another model for a running host."""

from __future__ import annotations

import dataclasses
import logging

from uniun_bots.errors import EngineError
from uniun_bots.host.running import Running
from uniun_bots.inference.engine import EngineInfo
from uniun_bots.personas.coherence_of_settings import is_engine_name
from uniun_bots.personas.settings import DEFAULT_ENGINE

log = logging.getLogger(__name__)


async def use_model(host: Running, model: str, *, now: bool) -> EngineInfo:
    """In the place of the one that host.yaml named at the start. `now` stops what runs, else it is waited for.

    Raises what loading raises, and then the old one stays.
    """
    if is_engine_name(model) or is_engine_name(host.project.settings.model):
        raise EngineError("an engine of host.yaml takes over at the next start of the host only")
    info = await host.house.scheduler.switch(DEFAULT_ENGINE, model, forced=now)
    settings = host.house.settings.model_copy(update={"model": model})
    host.project, host.house.settings = dataclasses.replace(host.project, settings=settings), settings
    log.info("model: %s now, with %d tokens of context", info.model, info.context_tokens)
    return info
