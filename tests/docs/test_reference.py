from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from docs.commands import all_commands, example_of
from docs.generate import FOLDER, pages
from docs.settings import SECTIONS, config_page, keys_of
from tests.docs.command_line import parse_command


@pytest.mark.parametrize("name", pages())
def test_the_reference_is_what_the_code_says_now(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run `make docs`"


def test_every_command_and_option_stands_in_the_reference() -> None:
    page = (FOLDER / "cli.md").read_text(encoding="utf-8")
    for path, command in all_commands():
        section = page.partition(f"# `{path}`\n")[2].partition("\n#")[0]
        assert section, path
        for option in command.params:
            if isinstance(option, click.Option):
                takes = f" {option.metavar}`" if option.metavar else ""
                assert f"`{', '.join(option.opts)}{takes}" in section, (path, option.name)


@pytest.mark.parametrize(
    ("path", "command"), [(p, c) for p, c in all_commands() if not hasattr(c, "commands")]
)
def test_every_command_has_a_help_text_and_an_example_that_it_understands(
    path: str, command: click.Command
) -> None:
    assert command.help
    words = example_of(command).partition("uniun-bots")[2]
    assert f"uniun-bots{words}".startswith(path)
    parse_command(shlex.split(words.partition("<")[0]))


def test_every_key_of_every_file_stands_in_the_reference_with_its_default() -> None:
    page = config_page()
    for title, model, _ in SECTIONS:
        section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.*?) \|", section, re.MULTILINE)
        assert [row[0] for row in rows] == list(keys_of(model))
        assert all(words.strip() for _, words, _ in rows)
    assert "| `max_age` | duration from `1s` to `365d` | `1d` |" in page


def test_the_reference_folder_holds_nothing_that_is_not_generated() -> None:
    assert {path.name for path in Path(FOLDER).iterdir()} == set(pages())
