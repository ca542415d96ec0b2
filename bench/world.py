"""What the benchmarks stand on: a relay in a process of its own, signed events, a project folder, child processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

BOT = Keys.generate()
PYTHON = sys.executable


@contextlib.contextmanager
def relay() -> Iterator[str]:
    """Yields its URL."""
    with subprocess.Popen(
        [str(Path(PYTHON).parent / "uniun-bots"), "relay", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the relay has no output")
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


@contextlib.contextmanager
def child(*args: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A Python child whose lines can be read; ended afterwards."""
    with subprocess.Popen(
        [PYTHON, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | (env or {}),
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    if process.stdout is None:
        raise RuntimeError("the child has no output")
    return process.stdout.readline().strip()


def ask(process: subprocess.Popen[str], question: str) -> Any:
    """One line in, one line of JSON out."""
    if process.stdin is None:
        raise RuntimeError("the child takes no input")
    process.stdin.write(f"{question}\n")
    process.stdin.flush()
    return json.loads(line_of(process))


def group_ids(count: int) -> list[str]:
    return [f"{n:064x}" for n in range(1, count + 1)]


def group_messages(groups: Sequence[str], count: int, authors: int = 50) -> list[str]:
    """Signed kind-42 events as JSON, the groups and authors in turn."""
    keys = [Keys.generate() for _ in range(authors)]
    now = int(time.time())
    found = []
    for n in range(count):
        tags = [Tag.parse(["e", groups[n % len(groups)], "", "root"]), Tag.parse(["t", "bench"])]
        builder = EventBuilder(Kind(42), f"message {n}: what do you make of this, and of number {n * 7}?")
        event = builder.tags(tags).custom_created_at(Timestamp.from_secs(now)).finalize(keys[n % authors])
        found.append(event.as_json())
    return found


def mentions(count: int, authors: int) -> list[str]:
    """Signed kind-1 notes that name the bot, as JSON, the authors in turn."""
    keys = [Keys.generate() for _ in range(authors)]
    bot, now = BOT.public_key().to_hex(), Timestamp.from_secs(int(time.time()))
    found = []
    for n in range(count):
        builder = EventBuilder(Kind(1), f"question {n}: what do you make of this, and of number {n * 7}?")
        event = builder.tags([Tag.parse(["p", bot])]).custom_created_at(now).finalize(keys[n % authors])
        found.append(event.as_json())
    return found


def write_project(
    folder: Path, url: str, groups: Sequence[str], ganas: int, *, debounce: str = "0s", embedder: str = "none"
) -> dict[str, str]:
    """`ganas` personas over these groups in turn, or on mentions; returns the environment with their key."""
    for sub in ("personas", "relays"):
        (folder / sub).mkdir(parents=True)
    (folder / "relays" / "local.yaml").write_text(f"relays:\n  - {url}\n")
    (folder / "host.yaml").write_text(
        f"model: script\nembedder: {embedder}\n"
        "engines:\n  script: {type: scripted, slots: 16, replies: ['Answer number {n}, in full.']}\n"
    )
    limits = "{per_hour: 1000000, per_day: 1000000, per_thread: 1000000, per_author_per_hour: 1000000}"
    for n in range(ganas):
        (folder / "personas" / f"gana-{n}.md").write_text(
            f"---\nname: Gana {n}\nidentity: env:BENCH_NSEC\nmode: live\ntrigger: every-message\n"
            f"debounce: {debounce}\nlimits: {limits}\n{surfaces(groups, n)}---\nAnswer in one sentence.\n"
        )
    return {"BENCH_NSEC": BOT.secret_key().to_bech32()}


def surfaces(groups: Sequence[str], n: int) -> str:
    if not groups:
        return "input: {type: mentions}\noutput: {type: feed, reply: true}\n"
    return f"input: {{type: group, ref: {groups[n % len(groups)]}}}\noutput: {{type: group, ref: same, reply: true}}\n"


def filters_json(groups: Sequence[str]) -> str:
    return json.dumps([{"kinds": [42], "#e": list(groups[i : i + 500])} for i in range(0, len(groups), 500)])
