"""The engines that host.yaml names, made ready to load; `default` is what `model:` says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from pathlib import Path

from uniun_bots.errors import ConfigError, Fault
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.llama.engine import STATE_BYTES, LlamaEngine
from uniun_bots.inference.openai.engine import OpenAiEngine
from uniun_bots.inference.openai.server import STALL_S, ApiKey, Server
from uniun_bots.inference.request import Request
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.settings import DEFAULT_ENGINE, EngineSettings, EngineType, HostSettings, JsonDialect

SCRIPTED_CONTEXT = 4096


def make_engines(settings: HostSettings, folder: Path, environ: Mapping[str, str]) -> dict[str, Engine]:
    """A relative `path:` of a model starts at `folder`, wherever the host was started from.

    Raises ConfigError when a key of a model server is not in `environ`.
    """
    keys = api_keys(settings, folder, environ)
    models = settings.models_folder(folder)
    engines = {
        name: make_engine(name, engine, folder, models, keys.get(name))
        for name, engine in settings.engines.items()
    }
    engines[DEFAULT_ENGINE] = engines.get(settings.model) or LlamaEngine(
        settings.model, base=folder, models=models
    )
    return engines


def engine_name(gana: Gana, engines: Mapping[str, Engine]) -> str:
    """The one that a Gana asks."""
    return gana.model if gana.model in engines else DEFAULT_ENGINE


def make_engine(
    name: str, settings: EngineSettings, folder: Path, models: Path, api_key: ApiKey | None = None
) -> Engine:
    if settings.type is EngineType.SCRIPTED:
        return ScriptedEngine(
            _script(settings),
            context_tokens=settings.context_tokens or SCRIPTED_CONTEXT,
            slots=settings.side_by_side,
            model=f"scripted:{name}",
            sleep=asyncio.sleep,
        )
    if settings.type is EngineType.OPENAI:
        return OpenAiEngine(
            Server(settings.base_url or "", api_key, stall_s=settings.timeout_s or STALL_S),
            settings.model,
            context_tokens=settings.context_tokens,
            slots=settings.side_by_side,
            priority=settings.priority or False,
            dialect=settings.json_dialect or JsonDialect.JSON_SCHEMA,
        )
    return LlamaEngine(
        settings.model or "",
        base=folder,
        models=models,
        context_tokens=settings.context_tokens,
        threads=settings.threads,
        state_bytes=STATE_BYTES if settings.kept_state_bytes is None else settings.kept_state_bytes,
    )


def api_keys(settings: HostSettings, folder: Path, environ: Mapping[str, str]) -> dict[str, ApiKey]:
    keys, faults = {}, []
    for name, engine in settings.engines.items():
        variable = (engine.api_key or "").removeprefix("env:")
        value = environ.get(variable, "").strip()
        if value and value.isascii() and value.isprintable():
            keys[name] = ApiKey(value)
        elif variable:
            told = f"{variable} holds what no header can carry" if value else f"{variable} is not set"
            faults.append(Fault(str(folder / "host.yaml"), 1, 1, f"engines.{name}.api_key: {told}"))
    if faults:
        raise ConfigError(faults)
    return keys


def _script(settings: EngineSettings) -> Callable[[Request], Reply]:
    replies = settings.replies or ("A scripted answer.",)
    asked = 0

    def next_reply(request: Request) -> Reply:
        nonlocal asked
        text = replies[asked % len(replies)].replace("{n}", str(asked + 1))
        asked += 1
        longest = settings.latency_max_s or settings.latency_s
        return Reply(text, after_s=random.uniform(settings.latency_s, longest))  # noqa: S311

    return next_reply
