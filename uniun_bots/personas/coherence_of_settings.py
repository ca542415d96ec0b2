"""What `host.yaml` says that cannot work although each value is right by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from uniun_bots.personas.coherence import Clash
from uniun_bots.personas.settings import (
    DEFAULT_EMBEDDER,
    NO_EMBEDDER,
    EngineSettings,
    EngineType,
    HostSettings,
)
from uniun_bots.personas.sheet import Loc
from uniun_bots.personas.shown import shown

MODEL_FORMS = re.compile(
    r"(path:.+|package:[\w.]+/.+|hf:[\w-][\w.-]*/[\w-][\w.-]*(/[\w-][\w.-]*)+)\.gguf", re.ASCII
)
_WRITE = "path:FILE.gguf, package:MODULE/FILE.gguf or hf:OWNER/REPO/FILE.gguf"
_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ENGINE_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FIELDS = {
    EngineType.LLAMA: {"model", "context_tokens", "threads", "kept_state_bytes"},
    EngineType.SCRIPTED: {"replies", "latency_s", "latency_max_s", "context_tokens", "slots"},
    EngineType.OPENAI: {
        "base_url",
        "model",
        "api_key",
        "slots",
        "context_tokens",
        "timeout_s",
        "priority",
        "json_dialect",
    },  # fmt: skip
}


def clashes_in_settings(settings: HostSettings) -> list[Clash]:
    found = [*_model(settings), *_embedder(settings), *_webhook(settings), *_probe(settings)]
    for name, engine in settings.engines.items():
        found += [
            Clash(("engines", name, *loc), message, frozenset({"engines"}))
            for loc, message in (*_engine_name(name), *_engine(engine))
        ]
    return found


def is_engine_name(model: str) -> bool:
    return ":" not in model


def _model(settings: HostSettings) -> Iterator[Clash]:
    if is_engine_name(settings.model):
        if settings.model not in settings.engines:
            told = f"no engine {shown(settings.model)} in `engines`"
            instead = "add it, or write a model such as path:qwen3.gguf"
            yield Clash(("model",), f"{told}: {instead}", frozenset({"model", "engines"}))
    elif not MODEL_FORMS.fullmatch(settings.model):
        yield Clash(("model",), _wrong_form(settings.model), frozenset({"model"}))


def _webhook(settings: HostSettings) -> Iterator[Clash]:
    if settings.webhook and settings.proxy:
        told = (
            "a webhook cannot be reached through `proxy`, and nothing goes out beside it: remove one of them"
        )
        yield Clash(("webhook",), told, frozenset({"webhook", "proxy"}))


def _probe(settings: HostSettings) -> Iterator[Clash]:
    if settings.probe.refuse_below > settings.probe.warn_below:
        told = "`refuse_below` is above `warn_below`, so nothing would ever be warned of: lower it"
        yield Clash(("probe", "refuse_below"), told, frozenset({"probe"}))


def _embedder(settings: HostSettings) -> Iterator[Clash]:
    name = settings.embedder
    if name in (DEFAULT_EMBEDDER, NO_EMBEDDER) or MODEL_FORMS.fullmatch(name):
        return
    engine = settings.engines.get(name)
    if engine is None or engine.type is not EngineType.OPENAI:
        told = f"{shown(name)} is no embedder: write {DEFAULT_EMBEDDER}, {NO_EMBEDDER}, {_WRITE}"
        instead = "or the name of one of `engines` of type openai"
        yield Clash(("embedder",), f"{told}, {instead}", frozenset({"embedder", "engines"}))


def _engine_name(name: str) -> Iterator[tuple[Loc, str]]:
    if not _ENGINE_NAME.fullmatch(name) or len(name) > 64 or name == "default":
        yield (
            (),
            f"an engine's name is 1 to 64 of a-z, 0-9 and -, and not `default`; this one is {shown(name)}",
        )


def _engine(engine: EngineSettings) -> Iterator[tuple[Loc, str]]:
    if engine.type is EngineType.OPENAI and engine.base_url is None:
        yield (), "an openai engine needs a `base_url`, such as http://127.0.0.1:8000/v1"
    if engine.api_key and not _VARIABLE.fullmatch(engine.api_key):
        yield ("api_key",), "must not hold the key itself: write env:NAME"
    if engine.type is EngineType.LLAMA and engine.model is None:
        yield (), "a llama engine needs a `model`, such as path:qwen3.gguf"
    if engine.type is EngineType.LLAMA and engine.model and not MODEL_FORMS.fullmatch(engine.model):
        yield ("model",), _wrong_form(engine.model)
    if engine.type is EngineType.SCRIPTED and not engine.replies:
        yield (), "a scripted engine needs `replies`, a list of texts"
    if engine.latency_max_s is not None and engine.latency_max_s < engine.latency_s:
        yield ("latency_max",), "`latency_max` is shorter than `latency`"
    for field in sorted(engine.model_fields_set - _FIELDS[engine.type] - {"type"}):
        key = str(EngineSettings.model_fields[field].validation_alias or field)
        yield (key,), f"`{key}` means nothing to an engine of type {engine.type}: remove it"


def _wrong_form(model: str) -> str:
    return f"must be {_WRITE}, not {shown(model)}"
