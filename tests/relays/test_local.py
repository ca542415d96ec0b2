from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nostr_sdk import Keys

from tests.relays.conftest import note, raw
from uniun_bots.clock import WallClock
from uniun_bots.errors import RelayError
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.local import LocalRelay, LocalRelayOptions
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate


def gateway(url: str) -> Gateway:
    return Gateway(GatewayOptions(relays=(RelayAddress(url=url),)), WallClock())


async def test_a_relay_with_a_database_keeps_events_over_a_restart(tmp_path: Path, keys: Keys) -> None:
    options = LocalRelayOptions(database=tmp_path / "events")
    event = note(keys, "kept")
    async with LocalRelay(options) as first, gateway(first.url) as one:
        (receipt,) = await one.send(raw(event), [first.url], "")
        assert receipt.fate is Fate.ACCEPTED
    async with LocalRelay(options) as second, gateway(second.url) as two:
        found = await two.fetch([Filter(kinds=(1,))], None, timeout_s=10)
        assert [one.content for one in found] == ["kept"]


async def test_a_port_that_is_taken_is_told(relay: LocalRelay) -> None:
    port = int(relay.url.rsplit(":", 1)[1])
    with pytest.raises(RelayError, match=f"cannot listen on 127.0.0.1:{port}"):
        async with LocalRelay(LocalRelayOptions(port=port)):
            pass


async def test_proof_of_work_can_be_demanded(keys: Keys) -> None:
    async with LocalRelay(LocalRelayOptions(min_pow=30)) as relay, gateway(relay.url) as one:
        (receipt,) = await one.send(raw(note(keys, "cheap")), [relay.url], "")
        assert receipt.fate is Fate.POW
        assert receipt.fate.final


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(
        [sys.executable, "-c", "from uniun_bots.cli.relay import relay; relay()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_says_where_it_listens_and_ends_cleanly(number: signal.Signals) -> None:
    with command("--port", "0") as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("listening ws://127.0.0.1:")
        running.send_signal(number)
        out, err = running.communicate(timeout=20)
        assert (running.returncode, out, err) == (0, "", "")


def test_the_command_misbehaves_by_script_and_prints_the_seed(tmp_path: Path) -> None:
    script = tmp_path / "faults.yaml"
    script.write_text("seed: 42\nsteps: [{at: 0s, silent: true}]\n")
    with command("--port", "0", "--faults", str(script)) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "seed 42\n"
        assert running.stdout.readline().startswith("listening ws://127.0.0.1:")
        running.terminate()
        assert running.wait(timeout=20) == 0
