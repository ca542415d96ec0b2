"""What a newcomer reads and does first."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.docs.pages import ROOT, blocks, read
from uniun_bots.cli.main import main

README = read(ROOT / "README.md")
# They run until they are stopped, or need what does.
LASTING = ("relay", "run", "status", "runs", "explain", "demo")


def test_the_readme_has_less_than_600_words() -> None:
    assert len(README.split()) < 600


def test_the_agents_page_is_one_page() -> None:
    assert len(read(ROOT / "AGENTS.md").splitlines()) < 70


def test_the_readme_shows_what_the_demo_says() -> None:
    ended = subprocess.run(
        [str(Path(sys.executable).parent / "uniun-bots"), "demo", "--scripted"],
        capture_output=True,
        text=True,
        timeout=50,
        cwd=ROOT,
    )
    assert ended.returncode == 0, ended.stderr
    (transcript,) = [block.text for block in blocks("text") if block.page == "README.md"]
    assert _shape(transcript) == _shape(ended.stdout)[: len(_shape(transcript))]


def _shape(said: str) -> list[str]:
    """The lines that are the same in every run, and the first word of the others."""
    plain = re.sub(r"ws://\S+", "URL", re.sub(r"from /\S+", "from FOLDER", said))
    steps = re.findall(r"^\[\d/\d\] .*$", plain, re.MULTILINE)
    return [*steps, *re.findall(r"^  ([a-z][\w-]*:?)  +\S", plain, re.MULTILINE)]


def test_the_commands_of_the_quickstart_work_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNIUN_BOTS_PASSPHRASE", "a passphrase")
    done = []
    for block in blocks("sh"):
        if block.page != "docs/quickstart.md":
            continue
        for line in block.text.splitlines():
            words = shlex.split(line)
            if words[0] == "cd":
                monkeypatch.chdir(tmp_path / words[1])
            elif words[0] == "uniun-bots" and words[1] not in LASTING:
                result = CliRunner().invoke(main, words[1:])
                assert result.exit_code == 0, (line, result.output)
                done.append(words[1])
    assert done == ["init", "check", "keys", "persona", "persona", "persona"]
