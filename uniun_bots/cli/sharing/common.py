"""What the commands that share something have in common: the relays to ask, the key to sign with, who says yes."""

from __future__ import annotations

import getpass
import os
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from uniun_bots.cli.ending import leave, told
from uniun_bots.cli.folder import data_dir, settings_of
from uniun_bots.cli.passphrase import ask_passphrase
from uniun_bots.clock import WallClock
from uniun_bots.errors import ConfigError, Gone, KeyRefused, NotAccepted, NotFound, SharingRefused, UniunError
from uniun_bots.host import event_loop
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.identity import identity_reference
from uniun_bots.personas.keys import resolve_identity
from uniun_bots.personas.load_relay_set import bundled_relay_sets, load_relay_set
from uniun_bots.personas.names import is_name
from uniun_bots.personas.relay_set import RelaySet
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.sharing.event import SKILL, Form
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.publish import difficulty_for, strangers_among

Found = TypeVar("Found")

accept_option = click.option(
    "--accept", metavar="sha256:HASH", help="Say yes beforehand, to exactly the bytes with this hash."
)
relays_option = click.option(
    "--relays", "relay_set", metavar="SET", help="A set from relays/ to ask; default: the host's."
)
to_option = click.option("--to", "relay_set", metavar="SET", help="A set from relays/; default: the host's.")
identity_option = click.option(
    "--identity", metavar="KEY", help="key:NAME or env:NAME; default: `author` of host.yaml."
)
yes_to_relays_option = click.option(
    "--yes", is_flag=True, help="Do not ask before something leaves for the world."
)


def go(main: Coroutine[Any, Any, int]) -> NoReturn:
    """Run it to its exit code; errors of ours become one line."""
    leave(event_loop.run(_told(main)))
    raise SystemExit  # `leave` is final


async def _told(main: Coroutine[Any, Any, int]) -> int:
    try:
        return await main
    except UniunError as fault:
        return told(fault)
    except OSError as fault:
        click.echo(f"{fault.filename or 'the system'}: {fault.strerror or fault}", err=True)
        return 1


class AtTerminal:
    """Whoever sits there."""

    def confirm(self, question: str) -> bool:
        """What was typed or pasted before the question stood there is no answer to it."""
        try:
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
            return click.confirm(question)
        except click.Abort:
            return False


def terminal() -> AtTerminal | None:
    """None where nobody sits."""
    return AtTerminal() if sys.stdin.isatty() else None


async def or_what_replaced_it(
    reference: str, look_up: Callable[[str], Awaitable[Found]], *, asks: bool
) -> Found:
    """What replaced an event that is gone is looked at by the same steps, after a yes."""
    try:
        return await look_up(reference)
    except Gone as gone:
        someone = terminal()
        if not asks or someone is None:
            raise SharingRefused(f"{gone}: {gone.replaced_by}") from None
        click.echo(f"{gone}:\n  {gone.replaced_by}")
        if not someone.confirm("Look at that one?"):
            raise
        return await look_up(gone.replaced_by)


def whoever(accept: str | None) -> str:
    """For the record: who said yes, and how."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = f"user {os.getuid()}"
    return f"{name}, {'with --accept' if accept else 'at a terminal'}"


def skill_form(folder: Path) -> Form:
    return replace(SKILL, kind=settings_of(folder).skill_kind)


def relays_named(folder: Path, name: str | None) -> RelaySet:
    """Raises NotFound, ConfigError for a set that cannot be read."""
    wanted = name or settings_of(folder).relays
    path = folder / "relays" / f"{wanted}.yaml"
    if is_name(wanted) and path.exists():
        reading = load_relay_set(path)
        if reading.value is None or reading.faults:
            raise ConfigError(reading.faults)
        return reading.value
    if found := bundled_relay_sets().get(wanted):
        return found
    raise NotFound(f"there is no relay set {wanted}: write relays/{wanted}.yaml")


@asynccontextmanager
async def opened(
    folder: Path, relay_set: str | None, signer: LocalSigner | None = None
) -> AsyncIterator[Where]:
    """A door to these relays. Behind a proxy no names are looked up, so hints of strangers are not followed.

    `signer` logs in where the set allows a relay to ask for that.
    """
    relays, proxy = relays_named(folder, relay_set).relays, settings_of(folder).proxy
    signers = {signer.public_key: signer} if signer else {}
    async with Gateway(GatewayOptions(relays=relays, proxy=proxy), WallClock(), signers=signers) as door:
        yield Where(door, tuple(one.url for one in relays if one.read), follow_hints=proxy is None)


def signer_of(folder: Path, identity: str | None) -> LocalSigner:
    """Raises KeyRefused with what to write. Never carries the key."""
    given = identity or settings_of(folder).author
    if given is None:
        raise KeyRefused(
            "whose is it? Write `author: key:NAME` into host.yaml, or give --identity key:NAME"
            " (`uniun-bots keys new NAME` makes a key)"
        )
    try:
        reference = identity_reference(given)
    except ValueError as fault:
        raise KeyRefused(f"--identity {fault}") from None
    return resolve_identity(reference, data_dir(folder), os.environ, ask_passphrase)


async def difficulty_here(folder: Path, relay_set: str | None, where: Where) -> int:
    """Leading zero bits to mine into what is published."""
    writes = [one for one in relays_named(folder, relay_set).relays if one.write]
    return await difficulty_for(where.door, writes, settings_of(folder).pow)


def agree_to_publish(what: str, kind: int, relays: tuple[str, ...], yes: bool) -> None:
    """Asked once, when something is to leave our own network. Raises NotAccepted."""
    far = strangers_among(relays)
    if not far or yes:
        return
    question = f"Publish {what} as kind {kind} to {', '.join(far)}? What is out there can be copied for ever"
    someone = terminal()
    if someone is None:
        raise NotAccepted(f"nobody is there to ask whether {what} may go to {', '.join(far)}: give --yes")
    if not someone.confirm(question):
        raise NotAccepted("nothing was published")
