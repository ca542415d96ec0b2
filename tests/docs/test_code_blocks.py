"""Every code block in the documents runs, loads or is understood; `text` marks what is not for running."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.command_line import parse_command
from tests.docs.pages import ROOT, Block, all_blocks, blocks, pages, read
from uniun_bots.host.project_folder import check_folder
from uniun_bots.personas.new_project import new_project
from uniun_bots.relays.fault_script import read_fault_script

PROJECT_FILE = re.compile(r"(personas|relays|skills|manas)/[a-z0-9/-]+\.(md|yaml)|host\.yaml")
# Programs of the system, which the documents may name without a test.
OTHERS = {"cd", "docker", "export", "git", "install", "mkdir", "pip", "sudo"}


def test_every_block_says_what_it_is() -> None:
    languages = {"sh", "python", "markdown", "yaml", "ini", "text"}
    assert [str(block) for block in all_blocks() if block.language not in languages] == []
    files = blocks("markdown", "yaml", "ini")
    assert [str(block) for block in files if not block.title] == []
    fences = sum(len(re.findall(r"^ *```", read(page), re.MULTILINE)) for page in pages())
    assert fences == 2 * len(all_blocks()), "a block is not closed, or is indented"


def _project_files() -> list[Block]:
    return [block for block in blocks("markdown", "yaml") if PROJECT_FILE.fullmatch(block.title)]


@pytest.mark.parametrize("block", _project_files(), ids=str)
def test_every_file_of_a_project_that_is_shown_passes_check(block: Block, tmp_path: Path) -> None:
    # Together with what it may name: the relay sets, the skills and the drafts of its page.
    for other in (*_named_on(block.page), block):
        path = tmp_path / other.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(other.text, encoding="utf-8")
    (tmp_path / "personas").mkdir(exist_ok=True)
    assert [str(fault) for fault in check_folder(tmp_path)[0].faults] == []


def _named_on(page: str) -> list[Block]:
    files = [block for block in _project_files() if block.page == page]
    return [block for block in files if block.title.startswith(("relays/", "skills/", "manas/"))]


def test_every_other_yaml_block_is_a_fault_script_that_can_be_read(tmp_path: Path) -> None:
    others = [block for block in blocks("markdown", "yaml") if not PROJECT_FILE.fullmatch(block.title)]
    rest = [block for block in others if not block.title.startswith(".github/")]
    assert [block.title for block in rest] == ["rough-night.yaml"]
    path = tmp_path / rest[0].title
    path.write_text(rest[0].text, encoding="utf-8")
    assert read_fault_script(path).seed == 7


def _commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if words:
            yield words


@pytest.mark.parametrize("block", blocks("sh"), ids=str)
def test_every_shell_line_names_commands_and_options_that_there_are(block: Block) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    for words in _commands(block):
        if words[:1] == ["make"]:
            rest = words[3:] if words[1] == "-C" else words[1:]
            assert set(rest) <= targets, words
        elif ours := _our_words(words):
            parse_command(ours)
        else:
            assert words[0] in OTHERS or words[:5] == ["*/10", "*", "*", "*", "*"], words


def _our_words(words: list[str]) -> list[str]:
    """What stands behind `uniun-bots`, or behind the service of the compose file whose entry point it is."""
    for at, word in enumerate(words):
        if Path(word).name == "uniun-bots" and "systemctl" not in words and "-C" not in words:
            return _before_redirection(words[at + 1 :])
        if word == "host" and words[:3] == ["docker", "compose", "run"]:
            return _before_redirection(words[at + 1 :])
    return []


def _before_redirection(words: list[str]) -> list[str]:
    return words[: words.index("<")] if "<" in words else words


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_every_python_block_runs(block: Block, tmp_path: Path) -> None:
    new_project(tmp_path / "my-bots")
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.text],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""


@pytest.mark.parametrize("block", blocks("ini"), ids=str)
def test_every_unit_starts_a_command_that_there_is(block: Block) -> None:
    sections = set(re.findall(r"^\[(\w+)\]$", block.text, re.MULTILINE))
    assert sections <= {"Unit", "Service", "Timer", "Install"}
    for line in block.text.splitlines():
        assert not line or re.fullmatch(r"\[\w+\]|[A-Z]\w+=\S.*", line), line
    for start in re.findall(r"^ExecStart=(.+)$", block.text, re.MULTILINE):
        parse_command(shlex.split(start)[1:])


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_understands_every_unit(tmp_path: Path) -> None:
    program, units = Path(sys.executable).parent / "uniun-bots", []
    for block in blocks("ini"):
        units.append(tmp_path / Path(block.title).name)
        text = re.sub(r"/opt/\S+/uniun-bots(?= )", str(program), block.text).replace("User=bots", "User=root")
        units[-1].write_text(text, encoding="utf-8")
    ended = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, timeout=50)
    assert [line for line in ended.stderr.splitlines() if str(tmp_path) in line or "uniun" in line] == []
