"""`uniun-bots skill revoke` and `persona revoke`: take back what was published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import folder_option
from uniun_bots.cli.sharing.common import (
    agree_to_publish,
    difficulty_here,
    go,
    identity_option,
    opened,
    signer_of,
    skill_form,
    to_option,
    yes_to_relays_option,
)
from uniun_bots.cli.sharing.publish import tell_receipts, writes
from uniun_bots.clock import WallClock
from uniun_bots.sharing.event import Form
from uniun_bots.sharing.persona_template import TEMPLATE
from uniun_bots.sharing.publish import revocation, send

_OPTIONS = (
    click.option("--reason", default="", help="Shown to those who look it up, or have it installed."),
    to_option,
    identity_option,
    yes_to_relays_option,
    folder_option,
)


def _revoke_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("revoke", epilog="Example: uniun-bots skill revoke tone-of-voice --reason 'wrong advice'")
@click.argument("name")
@_revoke_options
def revoke_skill(name: str, folder: Path, **how: Any) -> None:
    """Take back every version of a skill that you published (NIP-09). Hosts that have it installed disable it."""
    _revoke(name, skill_form(folder), folder, **how)


@click.command("revoke", epilog="Example: uniun-bots persona revoke tide-teller --reason 'wrong task'")
@click.argument("name")
@_revoke_options
def revoke_persona(name: str, folder: Path, **how: Any) -> None:
    """Take back every version of a template that you published (NIP-09). Personas that were made from it stay."""
    _revoke(name, TEMPLATE, folder, **how)


def _revoke(
    name: str,
    form: Form,
    folder: Path,
    *,
    reason: str,
    relay_set: str | None,
    identity: str | None,
    yes: bool,
) -> None:
    signer = signer_of(folder, identity)

    async def main() -> int:
        async with opened(folder, relay_set, signer) as where:
            bits = await difficulty_here(folder, relay_set, where)
            event = await revocation(where, signer, name, reason, WallClock().now(), form, bits)
            relays = writes(folder, relay_set)
            agree_to_publish(f"that the {form.what} {name} is taken back", 5, relays, yes)
            (receipts,) = await send(where.door, [event], relays)
        taken = len(event.tag_values("e"))
        click.echo(f"{name}: {taken} {'event is' if taken == 1 else 'events are'} taken back")
        tell_receipts(receipts)
        return 0 if any(one.fate.delivered for one in receipts) else 1

    go(main())
