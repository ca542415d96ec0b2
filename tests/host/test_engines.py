from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from uniun_bots.errors import ConfigError, ModelNotFound
from uniun_bots.host.engines import make_engines
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.model_reference import find_model
from uniun_bots.inference.openai.engine import OpenAiEngine
from uniun_bots.personas.settings import (
    DEFAULT_ENGINE,
    DEFAULT_MODEL,
    EngineSettings,
    EngineType,
    HostSettings,
)

SERVER = EngineSettings(type=EngineType.OPENAI, base_url="http://127.0.0.1:8000/v1", api_key="env:BIG_KEY")


async def test_a_relative_model_path_starts_at_the_project_folder_wherever_the_host_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, elsewhere = tmp_path / "bots", tmp_path / "elsewhere"
    (elsewhere / "models").mkdir(parents=True)
    shutil.copy(__file__, elsewhere / "models" / "big.gguf")
    monkeypatch.chdir(elsewhere)
    big = EngineSettings(type=EngineType.LLAMA, model="path:models/big.gguf")
    engines = make_engines(HostSettings(model="path:models/big.gguf", engines={"big": big}), project, {})
    for name in ("big", DEFAULT_ENGINE):
        with pytest.raises(ModelNotFound, match=str(project / "models" / "big.gguf")):
            await engines[name].load()


@pytest.mark.parametrize(("written", "meant"), [("0MB", 0), ("64MB", 64 * 10**6), (None, 512 * 10**6)])
def test_the_memory_for_kept_prompts_is_what_host_yaml_says(written: str | None, meant: int) -> None:
    big = EngineSettings.model_validate({"type": "llama", "model": "path:big.gguf", "kept_state": written})
    engine = make_engines(HostSettings(engines={"big": big}), Path("bots"), {})["big"]
    assert isinstance(engine, LlamaEngine)
    assert engine.state_bytes == meant


def test_a_model_server_becomes_an_engine_by_its_name_or_as_the_default() -> None:
    settings = HostSettings(model="big", engines={"big": SERVER})
    engines = make_engines(settings, Path("bots"), {"BIG_KEY": " sk-1\n"})
    assert isinstance(engines["big"], OpenAiEngine)
    assert engines[DEFAULT_ENGINE] is engines["big"]


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "bots/host.yaml:1:1 engines.big.api_key: BIG_KEY is not set"),
        ({"BIG_KEY": "sk-1\r\nX-Evil: 1"}, "BIG_KEY holds what no header can carry"),
        ({"BIG_KEY": "ключ"}, "BIG_KEY holds what no header can carry"),
    ],
)
def test_a_key_that_cannot_be_used_is_told_without_showing_it(environ: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_engines(HostSettings(engines={"big": SERVER}), Path("bots"), environ)
    assert told in str(caught.value)
    assert not environ or environ["BIG_KEY"] not in str(caught.value)


@pytest.mark.model
async def test_a_pulled_model_is_found_in_the_data_folder(tmp_path: Path) -> None:
    settings = HostSettings(model="hf:owner/repo/small.gguf", data_dir="kept")
    engine = make_engines(settings, tmp_path, {})[DEFAULT_ENGINE]
    with pytest.raises(ModelNotFound, match="model pull hf:owner/repo/small.gguf"):
        await engine.load()
    place = tmp_path / "kept" / "models" / "owner" / "repo"
    place.mkdir(parents=True)
    os.link(await asyncio.to_thread(find_model, DEFAULT_MODEL, tmp_path), place / "small.gguf")
    assert isinstance(engine, LlamaEngine)
    assert (await engine.load()).model == "hf:owner/repo/small.gguf"
    await engine.aclose()
