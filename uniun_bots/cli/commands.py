"""The group that every command hangs on: commands are imported when they are asked for, and errors end in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import click

from uniun_bots.errors import ConfigError, KeyRefused, UniunError


class Commands(click.Group):
    """0 ok, 1 the answer is no, 2 usage or configuration."""

    def __init__(self, *args: Any, places: Iterable[tuple[str, str, str]] = (), **kwargs: Any) -> None:
        """`places`: for each command that is imported when it is asked for: its name, `module:attribute`, and how
        its help begins."""
        super().__init__(*args, **kwargs)
        self.places = {name: (place, summary) for name, place, summary in places}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they were named, not by the alphabet."""
        return [*self.commands, *self.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.places:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.places[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What every command is for, without a look at those that are not imported yet."""
        room = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        own = [(name, command.get_short_help_str(room)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*own, *((name, summary) for name, (_, summary) in self.places.items())])

    def loaded(self) -> click.Group:
        """The same group with every command imported, for whoever looks at all of them."""
        here = click.Context(self)
        found = {name: self.get_command(here, name) for name in self.list_commands(here)}
        return click.Group(
            self.name,
            {
                name: command.loaded() if isinstance(command, Commands) else command
                for name, command in found.items()
                if command
            },
            help=self.help,
            epilog=self.epilog,
            params=self.params,
        )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UniunError as error:
            click.echo(str(error), err=True)
            sys.exit(2 if isinstance(error, ConfigError | KeyRefused) else 1)
        except BrokenPipeError:
            raise
        except OSError as error:
            click.echo(f"{error.filename or 'the system'}: {error.strerror or error}", err=True)
            sys.exit(1)
