"""Whether a command line is one that the command understands, without running it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from uniun_bots.cli.main import main


def name_command(words: Sequence[str]) -> None:
    """Like `parse_command`, but a group alone will do, and arguments may be left out."""
    command: click.Command = main.loaded()
    for at, word in enumerate(words):
        if isinstance(command, click.Group):
            if word not in command.commands:
                raise click.UsageError(f"there is no command {' '.join(words[: at + 1])}")
            command = command.commands[word]
        elif word.startswith("-"):
            known = {name for option in command.params for name in option.opts}
            if word not in known:
                raise click.UsageError(f"{' '.join(words[:at])} has no option {word}")


def parse_command(words: Sequence[str]) -> None:
    """`words` without the program's name. Raises click.UsageError for what the command would refuse."""
    command: click.Command = main.loaded()
    rest, path = list(words), "uniun-bots"
    while isinstance(command, click.Group):
        if not rest or rest[0] not in command.commands:
            if rest[:1] in (["--help"], ["--version"]):
                return
            raise click.UsageError(f"{path} has no command {' '.join(rest[:1]) or 'and needs one'}")
        path = f"{path} {rest[0]}"
        command = command.commands[rest.pop(0)]
    if "--help" not in rest:
        command.make_context(path, rest)
