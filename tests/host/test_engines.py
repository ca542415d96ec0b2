from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from uniun_bots.errors import ModelNotFound
from uniun_bots.host.engines import DEFAULT, make_engines
from uniun_bots.personas.settings import EngineSettings, EngineType, HostSettings


async def test_a_relative_model_path_starts_at_the_project_folder_wherever_the_host_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, elsewhere = tmp_path / "bots", tmp_path / "elsewhere"
    (elsewhere / "models").mkdir(parents=True)
    shutil.copy(__file__, elsewhere / "models" / "big.gguf")
    monkeypatch.chdir(elsewhere)
    big = EngineSettings(type=EngineType.LLAMA, model="path:models/big.gguf")
    engines = make_engines(HostSettings(model="path:models/big.gguf", engines={"big": big}), project, {})
    for name in ("big", DEFAULT):
        with pytest.raises(ModelNotFound, match=str(project / "models" / "big.gguf")):
            await engines[name].load()
