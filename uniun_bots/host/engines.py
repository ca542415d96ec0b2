"""The engines that host.yaml names, made ready to load; `default` is what `model:` says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from uniun_bots.inference.engine import Engine
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Request
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.personas.settings import EngineSettings, EngineType, HostSettings

DEFAULT = "default"
SCRIPTED_CONTEXT = 4096


def make_engines(settings: HostSettings, folder: Path) -> dict[str, Engine]:
    """A relative `path:` of a model starts at `folder`, wherever the host was started from."""
    engines = {name: make_engine(name, engine, folder) for name, engine in settings.engines.items()}
    engines[DEFAULT] = engines.get(settings.model) or LlamaEngine(settings.model, base=folder)
    return engines


def make_engine(name: str, settings: EngineSettings, folder: Path) -> Engine:
    if settings.type is EngineType.SCRIPTED:
        return ScriptedEngine(
            _script(settings),
            context_tokens=settings.context_tokens or SCRIPTED_CONTEXT,
            slots=settings.slots or 1,
            model=f"scripted:{name}",
            sleep=asyncio.sleep,
        )
    return LlamaEngine(
        settings.model or "", base=folder, context_tokens=settings.context_tokens, threads=settings.threads
    )


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
