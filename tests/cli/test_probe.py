"""`uniun-bots model probe`, alone, stopped, and beside a running host."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.cli.child import Child
from tests.host.stage import Stage, until
from tests.personas.folder import write
from tests.probe.plays import small
from uniun_bots.cli.main import main
from uniun_bots.cli.model import probe as commands
from uniun_bots.probe.load_situations import situations

COUNT = len(situations().situations)
SILENT = '{"skill": "stay-silent", "arguments": {}}'
QUIET = f"engines: {{quiet: {{type: scripted, replies: ['{SILENT}']}}}}\n"
SLOW = f"engines: {{quiet: {{type: scripted, latency: 100ms, replies: ['{SILENT}']}}}}\n"


def probe(folder: Path, *more: str) -> Result:
    return CliRunner().invoke(main, ["model", "probe", *more, "--dir", str(folder)], env={"COLUMNS": "120"})


def probed(folder: Path, *more: str) -> dict[str, Any]:
    ended = probe(folder, *more, "--json")
    assert ended.exit_code == 0, ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and three situations to play in it."""
    file = small(tmp_path)
    monkeypatch.setattr(commands, "situations", lambda: file)
    return write(tmp_path, host_yaml=QUIET)


def test_a_model_is_played_shown_beside_the_baselines_and_listed(few: Path) -> None:
    ended = probe(few, "quiet")
    assert ended.exit_code == 0, ended.output
    assert "3 plays of 3 situations\n" in ended.stdout
    rows = {cells[1].strip(): [one.strip() for one in cells[2:-1]] for cells in _cells(ended.stdout)}
    assert rows["keeps quiet when it should"] == ["100 %", "2", "34 to 100", "0 %", "100 %"]
    assert rows["publishes when it should"] == ["0 %", "1", "0 to 79", "100 %", "0 %"]
    assert rows["score"] == ["0.50", "", "", "0.00", "0.50"]
    assert "its model came to a score of 0.50, and `probe.warn_below` of host.yaml is 0.7" in ended.stdout
    (row,) = _cells(probe(few, "--list").stdout)
    told = [one.strip() for one in row[1:-1]]
    assert told == ["scripted:quiet", "0.50", "0 %", "100 %", "0 %", "-", "3"]
    assert probe(few, "quiet", "--list").stdout == ended.stdout


def test_a_play_that_is_kept_is_not_played_again_and_more_runs_add_to_it(few: Path) -> None:
    first = probed(few, "quiet")
    assert (first["rates"]["plays"], first["missing"], first["trust"]) == (3, [], "low")
    assert [one["marks"]["right"] for one in first["plays"]] == [False, True, True]
    write(few, host_yaml=QUIET.replace("stay-silent", "nonsense"))
    assert probed(few, "quiet")["rates"] == first["rates"]
    more = probed(few, "quiet", "--runs", "2")
    assert more["rates"]["endings"] == {"malformed": 3, "silent": 3}
    anew = probed(few, "quiet", "--again")
    assert anew["rates"]["endings"] == {"malformed": 3}


def test_an_engine_that_fails_ends_it_with_a_word_and_what_was_kept(few: Path) -> None:
    write(few, host_yaml="engines: {gone: {type: openai, base_url: http://127.0.0.1:9/v1, model: m}}")
    ended = probe(few, "gone")
    assert (ended.exit_code, "127.0.0.1:9" in ended.output) == (1, True), ended.output


async def test_what_was_stopped_is_kept(tmp_path: Path) -> None:
    write(tmp_path, host_yaml=SLOW)
    async with Child("model", "probe", "quiet", "--dir", tmp_path) as child:
        await _until_kept(tmp_path)
        ended = await child.end(signal.SIGINT)
    assert ended.code == 1
    assert "stopped: what was played is kept, and the same command goes on" in ended.err
    (part,) = await _listed(tmp_path)
    assert (0 < part["rates"]["plays"] < COUNT, part["trust"]) == (True, "not measured")
    assert f"{part['rates']['plays']} plays" in ended.out


async def test_beside_a_running_host_the_host_writes_and_the_measuring_stands_back(stage: Stage) -> None:
    stage.settings(SLOW)
    stage.persona("tide")
    async with stage.host(), Child("model", "probe", "quiet", "--dir", stage.folder) as child:
        await _until_kept(stage.folder)
        niceness = os.getpriority(os.PRIO_PROCESS, child.pid) - os.getpriority(os.PRIO_PROCESS, 0)
        ended = await child.end(signal.SIGTERM)
    assert niceness == min(10, 19 - os.getpriority(os.PRIO_PROCESS, 0))
    assert "stopped" in ended.err, ended.all


def test_what_cannot_be_probed_is_told(few: Path) -> None:
    for arguments, code, told in (
        ((), 2, "name a MODEL, or write --list"),
        (("small",), 1, "host.yaml has no engine small; there are: default, quiet"),
        (("path:none.gguf",), 1, "there is no file"),
        (("--list",), 0, "nothing was measured yet"),
    ):
        ended = probe(few, *arguments)
        assert (ended.exit_code, told in ended.output) == (code, True), ended.output
    assert not (few / "data").exists()


def _cells(out: str) -> list[list[str]]:
    return [line.split("│") for line in out.splitlines() if "│" in line]


async def _listed(folder: Path) -> list[dict[str, Any]]:
    ended = await asyncio.to_thread(probe, folder, "--list", "--json")
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


async def _until_kept(folder: Path) -> None:
    async def kept() -> bool:
        return bool(await _listed(folder))

    await until(kept)
