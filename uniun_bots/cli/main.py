"""The command `uniun-bots`: its groups in the order that a newcomer meets them."""

from __future__ import annotations

import click

from uniun_bots import __version__


@click.group()
@click.version_option(__version__)
def main() -> None:
    """Persona bots on Nostr relays: one declarative file each, one local model, nothing answered twice."""
