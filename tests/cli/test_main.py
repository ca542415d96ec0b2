from __future__ import annotations

import asyncio
import inspect
import json
import sys

import click
import pytest

from uniun_bots.cli.commands import Commands
from uniun_bots.cli.main import main

HEAVY = ("aiohttp", "numpy", "uvloop", "uniun_bots.host.host", "uniun_bots.inference.engine")


def groups() -> list[Commands]:
    loaded = [main.get_command(click.Context(main), name) for name in main.places]
    return [main, *(one for one in loaded if isinstance(one, Commands))]


@pytest.mark.parametrize("group", groups(), ids=lambda group: group.name)
def test_a_list_of_commands_says_of_each_how_its_own_help_begins(group: Commands) -> None:
    for name, (place, summary) in group.places.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None and command.name == name, place
        assert summary.endswith("."), place
        assert " ".join(inspect.cleandoc(command.help or "").split()).startswith(summary[:-1]), place


SCRIPT = """
import io, json, sys
from contextlib import redirect_stdout
from uniun_bots.cli.main import PLACES, main

found = {}
for words in [[], *([name] for name, _, _ in PLACES if name not in NEEDING_MORE)]:
    with redirect_stdout(io.StringIO()) as said:
        main([*words, "--help"], standalone_mode=False)
    assert said.getvalue().startswith("Usage: ")
    found[" ".join(words)] = [name for name in HEAVY if name in sys.modules]
print(json.dumps(found))
"""


async def test_help_comes_without_a_host_a_socket_or_an_engine() -> None:
    """`relay` is nothing but its relay."""
    script = f"NEEDING_MORE, HEAVY = ('relay',), {HEAVY!r}\n{SCRIPT}"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate()
    found = json.loads(out)
    assert len(found) == len(main.places)
    assert {words: heavy for words, heavy in found.items() if heavy} == {}
