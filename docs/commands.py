"""The command line as a page, from the click commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from uniun_bots.cli.main import main

INTRO = """\
# Command line

<!-- Written by docs/generate.py: change the command, then run `make docs`. -->

Every command has `--help`. Listings and reports take `--json`. Most commands look at the project folder in
`--dir`, by default the current one.

| exit code | meaning |
|---|---|
| 0 | ok |
| 1 | the answer is no: no host runs, no such run, the demo got no reply |
| 2 | wrong usage, a faulty file, or a key that cannot be used |
"""


def cli_page() -> str:
    sections = [_section(path, command) for path, command in all_commands()]
    return "\n".join([INTRO, *sections]).rstrip() + "\n"


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, groups before what is in them."""
    yield from _below("uniun-bots", main.loaded())


def _below(path: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from _below(f"{path} {name}", command)


def example_of(command: click.Command) -> str:
    return (command.epilog or "").removeprefix("Example:").strip()


def _section(path: str, command: click.Command) -> str:
    level = "#" * len(path.split())
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"{level} `{path}`", f"```text\n{usage}\n```", inspect.cleandoc(command.help or "")]
    options = [_row(option) for option in command.params if isinstance(option, click.Option)]
    if options:
        parts.append("\n".join(["| option | what it does |", "|---|---|", *options]))
    if not isinstance(command, click.Group):
        parts.append(f"```sh\n{example_of(command)}\n```")
    return "\n\n".join(parts) + "\n"


def _row(option: click.Option) -> str:
    names = ", ".join(option.opts)
    if not option.is_flag:
        names += f" {_form(option)}"
    default = f" Default: `{option.default}`." if option.show_default and option.default is not None else ""
    return f"| `{names}` | {option.help or _choices(option)}{default} |"


def _form(option: click.Option) -> str:
    kinds = {"integer": "NUMBER", "integer range": "NUMBER", "float": "SECONDS", "path": "PATH"}
    return option.metavar or kinds.get(option.type.name, option.opts[-1].lstrip("-").upper())


def _choices(option: click.Option) -> str:
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    return " or ".join(f"`{choice}`" for choice in choices) + "." if choices else ""
