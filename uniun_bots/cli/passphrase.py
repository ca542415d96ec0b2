"""Passphrases are asked for at a terminal only."""

from __future__ import annotations

import sys

import click

from uniun_bots.errors import KeyRefused


def ask_passphrase(purpose: str) -> str:
    if not sys.stdin.isatty():
        raise KeyRefused(
            f"{purpose} is needed and there is no terminal to ask: set UNIUN_BOTS_PASSPHRASE_FILE"
        )
    answer: str = click.prompt(purpose, hide_input=True, err=True)
    return answer
