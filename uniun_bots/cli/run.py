"""`uniun-bots run` and `uniun-bots tick`. The host is imported when it is to run: help and listings need none."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from uniun_bots.cli.ending import leave, told
from uniun_bots.cli.passphrase import ask_passphrase
from uniun_bots.errors import UniunError
from uniun_bots.nostr.reference import spell_npub

if TYPE_CHECKING:
    from uniun_bots.host.host import Host

log = logging.getLogger(__name__)


@click.command(epilog="Example: uniun-bots run my-bots")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("-v", "--verbose", is_flag=True, help="Also what was heard, kept and matched.")
def run(folder: Path, verbose: bool) -> None:
    """Host the Ganas of a project folder until SIGTERM or Ctrl-C.

    SIGHUP reads the folder again. Running work is finished, or safely abandoned, within 10 seconds.
    """
    from uniun_bots.host import event_loop

    start_logging(verbose)
    leave(event_loop.run(_run(folder)))


@click.command(epilog="Example: */10 * * * * uniun-bots tick /home/me/my-bots")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--most", "most_s", default=300.0, show_default=True, help="Seconds after which it stops anyway."
)
@click.option("-v", "--verbose", is_flag=True, help="Also what was heard, kept and matched.")
def tick(folder: Path, most_s: float, verbose: bool) -> None:
    """One pass for cron or a systemd timer: catch up, run what is due, deliver, exit.

    What agentic Ganas have to do is left as it is: `uniun-bots run` answers it. Exit code 1 when something was
    still under way at the end, or no relay was reached; the next pass takes it up.
    """
    from uniun_bots.host import event_loop

    start_logging(verbose)
    leave(event_loop.run(_tick(folder, most_s)))


async def _run(folder: Path) -> int:
    from nostr_sdk import uniffi_set_event_loop

    from uniun_bots.host.host import Host

    loop = asyncio.get_running_loop()
    uniffi_set_event_loop(loop)
    if starting := asyncio.current_task():
        _on_stop(starting.cancel)
    # Left to the system, a hang-up while the host starts would end it.
    hung_up = asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, hung_up.set)
    try:
        async with Host(folder, ask_passphrase=ask_passphrase) as host:
            _on_stop(host.stop)
            reloading = loop.create_task(_reload_on(hung_up, host))
            ganas = host.house.roster.ganas.values()
            click.echo(f"hosting {len(ganas)} Ganas from {folder} (pid {os.getpid()})", err=True)
            for hosted in ganas:
                click.echo(f"  {hosted.id} ({hosted.gana.mode}) is {spell_npub(hosted.pubkey)}", err=True)
            await host.wait()
            reloading.cancel()
    except UniunError as fault:
        return told(fault)
    except asyncio.CancelledError:
        log.info("stopped before it was up")
    return 0


def _on_stop(stop: Callable[[], object]) -> None:
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop)


async def _reload_on(hung_up: asyncio.Event, host: Host) -> None:
    while True:
        await hung_up.wait()
        hung_up.clear()
        try:
            await host.reload()
        except UniunError as fault:
            log.error("reload refused, all stays as it was:\n%s", fault)
        except Exception:
            log.exception("reload met a fault")


async def _tick(folder: Path, most_s: float) -> int:
    from nostr_sdk import uniffi_set_event_loop

    from uniun_bots.host.control.snapshot import snapshot
    from uniun_bots.host.host import Host

    uniffi_set_event_loop(asyncio.get_running_loop())
    try:
        async with Host(folder, ask_passphrase=ask_passphrase, debounce=False, defers_agentic=True) as host:
            done = await host.idle(most_s)
            counters = (await snapshot(host))["counters"]
            deferred = sorted(host.house.deferred)
            relays = host.house.gateway.status()
    except UniunError as fault:
        return told(fault)
    told_counts = ", ".join(f"{count} {word}" for word, count in sorted(counters.items()) if count)
    click.echo(
        f"tick: {told_counts or 'nothing was heard'}{'' if done else '; something is still under way'}"
    )
    if deferred:
        click.echo(f"left to a running host, which has time for several rounds: {', '.join(deferred)}")
    if away := sorted({relay.url for relay in relays if not relay.connected}):
        click.echo(f"not reached: {', '.join(away)}")
    deaf = bool(relays) and not any(relay.connected for relay in relays)
    return 0 if done and not deaf else 1


def start_logging(verbose: bool) -> None:
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(asctime)s %(levelname).1s %(message)s",
        stream=sys.stderr,
    )
    for loud in ("asyncio", "aiohttp"):
        logging.getLogger(loud).setLevel(logging.WARNING)
