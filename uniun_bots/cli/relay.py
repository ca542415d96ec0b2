"""`uniun-bots relay`"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import click

from uniun_bots.errors import RelayError, UniunError
from uniun_bots.relays.fault_proxy import FaultProxy
from uniun_bots.relays.fault_script import FaultScript, read_fault_script
from uniun_bots.relays.local import LocalRelay, LocalRelayOptions


@click.command(epilog="Example: uniun-bots relay --port 7777 --faults rough-night.yaml")
@click.option("--port", default=7777, type=click.IntRange(0, 65535), help="0: a free one.", show_default=True)
@click.option("--db", type=click.Path(path_type=Path), help="Keep events in this folder; default: in memory.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--faults",
    "script",
    type=click.Path(path_type=Path),
    help="Misbehave as this YAML file says: steps with `at:` and faults such as refuse, silent, delay.",
)
def relay(port: int, db: Path | None, host: str, script: Path | None) -> None:
    """Run a local relay for tests and first steps until it is interrupted.

    Prints `listening ws://…` when it is ready. Not made for the public internet.
    """
    faults = read_fault_script(script) if script else None
    code = asyncio.run(_run(LocalRelayOptions(host=_address(host), port=port, database=db), faults))
    sys.stdout.flush()
    sys.stderr.flush()
    # The SDK's threads may still be entering Python: taking the interpreter apart under them can crash.
    os._exit(code)


def _address(host: str) -> str:
    """A name such as `localhost` as the address that the relay listens on."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise RelayError(f"cannot listen on {host}: {error.strerror}") from None
    addresses = [str(place[0]) for _, _, _, _, place in found]
    return next((one for one in addresses if ":" not in one), addresses[0])


async def _run(options: LocalRelayOptions, script: FaultScript | None) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        async with AsyncExitStack() as stack:
            await _serve(stack, options, script)
            await stop.wait()
    except UniunError as error:
        click.echo(str(error), err=True)
        return 1
    return 0


async def _serve(stack: AsyncExitStack, options: LocalRelayOptions, script: FaultScript | None) -> None:
    if script is None:
        relay = await stack.enter_async_context(LocalRelay(options))
        click.echo(f"listening {relay.url}")
        return
    behind = await stack.enter_async_context(LocalRelay(LocalRelayOptions(database=options.database)))
    proxy = await stack.enter_async_context(FaultProxy(behind.url, script.seed, options.host, options.port))
    click.echo(f"seed {script.seed}")
    click.echo(f"listening {proxy.url}")
    steps = asyncio.ensure_future(proxy.follow(script))
    stack.callback(steps.cancel)
