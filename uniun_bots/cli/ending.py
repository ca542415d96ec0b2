"""How a command that opened a loop of its own ends."""

from __future__ import annotations

import os
import sys

import click

from uniun_bots.errors import ConfigError, KeyRefused, UniunError


def told(fault: UniunError) -> int:
    click.echo(str(fault), err=True)
    return 2 if isinstance(fault, ConfigError | KeyRefused) else 1


def leave(code: int) -> None:
    """Flush and go at once: the SDK's threads may still call into an interpreter that is being torn down."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
