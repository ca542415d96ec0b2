"""The command `uniun-bots`: its groups in the order that a newcomer meets them."""

from __future__ import annotations

import click

from uniun_bots import __version__
from uniun_bots.cli.check import check
from uniun_bots.cli.commands import Commands
from uniun_bots.cli.init import init
from uniun_bots.cli.keys import keys


@click.group(cls=Commands)
@click.version_option(__version__)
def main() -> None:
    """Persona bots on Nostr relays: one declarative file each, one local model, nothing answered twice."""


main.add_command(init)
main.add_command(check)
main.add_command(keys)
