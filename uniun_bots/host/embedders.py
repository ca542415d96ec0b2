"""The embedder that host.yaml names, made ready to load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from uniun_bots.host.engines import api_keys
from uniun_bots.inference.embed.embedder import Embedder
from uniun_bots.inference.embed.local import LocalEmbedder
from uniun_bots.inference.embed.server import ServerEmbedder
from uniun_bots.inference.openai.server import STALL_S, Server
from uniun_bots.personas.settings import NO_EMBEDDER, HostSettings


def make_embedder(settings: HostSettings, folder: Path, environ: Mapping[str, str]) -> Embedder | None:
    """None for `embedder: none`. Raises ConfigError when the key of its server is not in `environ`."""
    name = settings.embedder
    if name == NO_EMBEDDER:
        return None
    engine = settings.engines.get(name)
    if engine is None:
        return LocalEmbedder(name, base=folder, models=settings.models_folder(folder))
    key = api_keys(settings, folder, environ).get(name)
    server = Server(engine.base_url or "", key, stall_s=engine.timeout_s or STALL_S)
    return ServerEmbedder(name, server, engine.model)
