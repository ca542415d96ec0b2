"""docs/test-your-personas.md: its tests pass as they stand there, and its workflow names what there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests.docs.command_line import parse_command
from tests.docs.pages import ROOT, all_blocks

PAGE = {
    block.title: block.text
    for block in all_blocks()
    if block.page.endswith("test-your-personas.md") and block.title
}


def test_the_tests_on_the_page_pass_on_the_examples(tmp_path: Path) -> None:
    for name in ("personas", "manas", "relays"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for title in ("tests/conftest.py", "tests/test_my_personas.py", "pytest.ini"):
        path = tmp_path / title
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE[title], encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "4 passed" in ended.stdout


def test_the_workflow_runs_what_there_is() -> None:
    workflow: dict[str, Any] = yaml.safe_load(PAGE[".github/workflows/personas.yml"])
    (job,) = workflow["jobs"].values()
    commands = [step["run"].split() for step in job["steps"] if "run" in step]
    assert [words[0] for words in commands] == ["pip", "uniun-bots", "pytest"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package, _, extra = commands[0][-1].rstrip("]").partition("[")
    assert package == project["name"] and extra in project["optional-dependencies"]
    parse_command(commands[1][1:])
    assert f"{commands[2][-1]}/test_my_personas.py" in PAGE
    python = next(step["with"]["python-version"] for step in job["steps"] if "python" in step.get("uses", ""))
    assert project["requires-python"] == f">={python}"
