"""What the documents name is there, and what they must name is named."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from docs.settings import SECTIONS, keys_of
from tests.docs.command_line import name_command
from tests.docs.pages import DOCS, ROOT, pages, prose, read, spans
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.settings import HostSettings

CODE = re.compile(r"(uniun_bots|tests|docs|bench)/[\w./-]*")
VARIABLE = re.compile(r"\bUNIUN_BOTS_[A-Z_]+\b")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_path_of_the_repository_that_is_named_exists(page: Path) -> None:
    for span in spans(page):
        path, _, test = span.partition("::")
        if CODE.fullmatch(path):
            assert (ROOT / path).exists(), span
            assert not test or re.search(rf"def {re.escape(test)}\(", read(ROOT / path)), span


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page: Path) -> None:
    for span in spans(page):
        if span.startswith("uniun-bots "):
            name_command(shlex.split(span)[1:])
        if span.startswith("make "):
            targets = re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE)
            assert set(span.split()[1:]) <= set(targets), span


def test_every_threat_has_a_test_that_holds_it() -> None:
    rows = re.findall(r"^\| (?!threat|---)(.+) \|$", read(DOCS / "security.md"), re.MULTILINE)
    assert len(rows) > 20
    assert [row for row in rows if "::test_" not in row.split(" | ")[2]] == []


def test_every_promise_has_tests_that_hold_it() -> None:
    promises = read(DOCS / "flow.md").partition("## What it promises")[2]
    told = re.split(r"^\*\*", promises, flags=re.MULTILINE)[1:]
    assert len(told) == 5
    assert [promise.partition("**")[0] for promise in told if "::test_" not in promise] == []


def _dotted(model: type[Gana] | type[HostSettings]) -> set[str]:
    found = set()
    models = {title.rpartition("`")[0].rpartition("`")[2]: kind for title, kind, _ in SECTIONS}
    for key in keys_of(model):
        if key in models:
            found |= {f"{key}.{below}" for below in keys_of(models[key])}
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_setting_that_is_named_with_its_block_exists(page: Path) -> None:
    known = _dotted(Gana) | _dotted(HostSettings)
    for span in spans(page):
        if re.fullmatch(r"(input|output|limits|profile|defaults)\.\w+", span.partition(":")[0]):
            assert span.partition(":")[0] in known, span


def test_every_environment_variable_is_documented_and_every_documented_one_is_read() -> None:
    code = "".join(read(path) for path in (ROOT / "uniun_bots").rglob("*.py"))
    documents = "".join(read(page) for page in pages())
    read_by_code = set(VARIABLE.findall(code))
    assert read_by_code <= set(VARIABLE.findall(documents))
    others = set(VARIABLE.findall(documents)) - read_by_code
    assert all(name in read(ROOT / "Makefile") for name in others)


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md", "CHANGELOG.md"])
def test_every_link_of_the_top_pages_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", prose(ROOT / name)):
        assert target.startswith("https://") or (ROOT / target.partition("#")[0]).exists(), target


def test_every_room_has_its_row_in_both_tables() -> None:
    rooms = {path.parent.name for path in (ROOT / "uniun_bots").glob("*/__init__.py")}
    rooms |= {path.stem for path in (ROOT / "uniun_bots").glob("*.py")} - {"__init__"}
    tables = read(DOCS / "architecture.md"), read(ROOT / "AGENTS.md")
    for room in rooms:
        assert f"`{room}`" in tables[0], room
        assert re.search(rf"`uniun_bots/{room}(/|\.py)`", tables[1]), room


def test_every_dependency_is_explained_with_its_bound() -> None:
    page = read(DOCS / "dependencies.md")
    wanted = re.search(
        r"^dependencies = \[\n(.*?)^\]", read(ROOT / "pyproject.toml"), re.MULTILINE | re.DOTALL
    )
    assert wanted
    for line in re.findall(r'"(.+)"', wanted[1]):
        name, bound = re.fullmatch(r"([\w-]+)(.*)", line).groups()  # type: ignore[union-attr]
        assert f"| {name} | {bound} |" in page


def test_every_page_of_the_site_is_in_its_menu() -> None:
    menu = read(ROOT / "mkdocs.yml")
    for page in DOCS.rglob("*.md"):
        assert f": {page.relative_to(DOCS)}\n" in menu


def test_the_changelog_begins_with_what_is_not_released() -> None:
    versions = re.findall(r"^## (.+)$", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == "Unreleased"
