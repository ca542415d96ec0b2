"""The group that every command hangs on: our errors, and the system's, become one line and an exit code."""

from __future__ import annotations

import sys
from typing import Any

import click

from uniun_bots.errors import ConfigError, KeyRefused, UniunError


class Commands(click.Group):
    """0 ok, 1 the answer is no, 2 usage or configuration."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they were added, not by the alphabet."""
        return list(self.commands)

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
