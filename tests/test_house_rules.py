"""Rules of the house that people forget and machines do not."""

from __future__ import annotations

import ast
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from uniun_bots import failpoints
from uniun_bots.cli.main import main
from uniun_bots.personas.project import check_project

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "uniun_bots"
MOST_LINES = 350
MOST_LINES_OF_A_FUNCTION = 60
SOURCES = sorted(PACKAGE.rglob("*.py"))
SCENES = sorted(path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def ladder() -> set[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return {room.strip() for layer in contract["layers"] for room in layer.split("|")}


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def commands(group: click.Group, *above: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        found.append((*above, name))
        if isinstance(command, click.Group):
            found += commands(command, *above, name)
    return found


# rooms ------------------------------------------------------------------------------------------------


def test_every_room_stands_on_the_ladder_and_every_rung_is_a_room() -> None:
    rooms = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert rooms - {"__init__"} == ladder()


@pytest.mark.parametrize("room", sorted(ladder()))
def test_a_room_says_what_it_is_for(room: str) -> None:
    assert (importlib.import_module(f"uniun_bots.{room}").__doc__ or "").strip()


def test_every_room_has_its_tests() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    tested = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders - tested == set()


def test_every_folder_of_tests_is_a_package() -> None:
    """So that two files of one name in two rooms are two modules."""
    folders = {path.parent for path in SCENES}
    assert [named(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


# size -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_a_file_is_one_sitting_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", SOURCES + SCENES, ids=named)
def test_a_function_fits_on_a_page(path: Path) -> None:
    long = [
        f"{node.name}: {(node.end_lineno or 0) - node.lineno + 1} lines"
        for node in functions(path)
        if (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    ]
    assert long == []


# code -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_a_file_says_what_it_is_and_uses_annotations_of_today(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if path.name == "__init__.py" and not tree.body:
        return
    assert ast.get_docstring(tree)
    if path.name != "__init__.py":
        assert "from __future__ import annotations" in path.read_text()


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_nothing_is_swallowed_asserted_or_left_for_later(path: Path) -> None:
    tree = ast.parse(path.read_text())
    swallowed = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and [type(one) for one in node.body] == [ast.Pass]
    ]
    asserted = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    later = re.findall(r"\b(?:TODO|FIXME|XXX)\b", path.read_text())
    assert (swallowed, asserted, later) == ([], [], [])


OUTSIDE = {
    "sqlite3.connect(": {"database/store.py"},
    "time.time(": {"clock.py"},
}


@pytest.mark.parametrize("words", OUTSIDE)
def test_each_outside_thing_has_one_door(words: str) -> None:
    used = {str(path.relative_to(PACKAGE)) for path in SOURCES if words in path.read_text()}
    assert used <= OUTSIDE[words]


DOORS = {
    "llama_cpp": ("inference/",),
    "nostr_sdk": ("relays/", "nostr/", "cli/", "personas/relay_set.py"),
    "aiohttp": (
        "relays/",
        "inference/",
        "host/control/ask.py",
        "host/chat/streams.py",
        "host/chat/through_host.py",
        "host/control/server.py",
        "host/webhook.py",
    ),
}


@pytest.mark.parametrize("library", DOORS)
def test_a_library_is_used_in_its_room_only(library: str) -> None:
    pattern = re.compile(rf"^\s*(?:from|import) {library}\b", re.MULTILINE)
    used = [str(path.relative_to(PACKAGE)) for path in SOURCES if pattern.search(path.read_text())]
    assert [path for path in used if not path.startswith(DOORS[library])] == []


# failpoints -------------------------------------------------------------------------------------------


def test_every_failpoint_is_hit_in_one_place_and_every_hit_is_a_failpoint() -> None:
    hits = [
        name for path in SOURCES for name in re.findall(r"failpoints\.hit\(\"([a-z]+)\"\)", path.read_text())
    ]
    assert sorted(hits) == sorted(failpoints.NAMES + failpoints.ACCEPT_NAMES + failpoints.INSTALL_NAMES)


# commands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", commands(main.loaded()), ids=" ".join)
def test_a_command_has_help_with_an_example(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*path, "--help"], terminal_width=200)
    assert result.exit_code == 0
    assert re.search(rf"Example: (?:\S+ \S+ \S+ \S+ \S+ )?uniun-bots {' '.join(path)}\b", result.output), (
        result.output
    )
    described = result.output.split("\n\n")[1].strip()
    assert len(described) > 10 and described.rstrip().endswith((".", ":"))


@pytest.mark.parametrize("path", commands(main.loaded()), ids=" ".join)
def test_a_listing_speaks_json(path: tuple[str, ...]) -> None:
    if path[-1] in ("list", "show", "status", "explain", "check") and path != ("keys", "show"):
        assert "--json" in CliRunner().invoke(main, [*path, "--help"]).output


# examples ---------------------------------------------------------------------------------------------


def test_the_repository_is_a_project_folder_that_passes_check() -> None:
    report = check_project(ROOT)
    assert (report.faults, report.warnings) == ((), ())
    assert report.project is not None
    assert {gana.id for gana in report.project.ganas} == {
        path.stem for path in (ROOT / "personas").glob("*.md")
    }
    assert set(report.project.relay_sets) == {path.stem for path in (ROOT / "relays").glob("*.yaml")}
    assert {gana.mode.value for gana in report.project.ganas} == {"off"}
    result = CliRunner().invoke(main, ["check", str(ROOT), "--json"])
    assert (result.exit_code, json.loads(result.output)["ok"]) == (0, True)


@pytest.mark.parametrize("path", [one for one in SOURCES if "inference" not in one.parts], ids=named)
def test_only_the_scheduler_loads_models(path: Path) -> None:
    """Whoever else did might have two of them in memory at once; `info` and `count` need none."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
    assert not [call.lineno for call in calls if call.attr == "load" and "engine" in ast.unparse(call.value)]
