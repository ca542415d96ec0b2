"""Verified events a second, from relay to committed note, beside a bare client that only counts.

The same burst goes to fresh relays; in turn a bare nostr-sdk client and hosts with 1, 100 and 1,000 Ganas (spread
over as many groups, and all on one group) take it live. A host's clock stops when the last note is committed,
with edges, topics, surfaces, full text and wakeups. All of it is done in several rounds, since a machine is faster in
one second than in the next: ratios are taken within a round, and their median is told.

Once more with the default embedder on: it rests while notes stream in, so the rate should be the same. How fast it
works off the backlog afterwards stands in `raw`.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import world
from bench.report import arguments, report

QUIET_S = 3.0
BACKLOG_S = 6.0
"""How long the embedder is watched after the burst."""


def bare_rate(url: str, groups: list[str], events: list[str], file: Path) -> float:
    filters = world.filters_json(groups)
    with (
        world.child("-m", "bench.bare", "count", url, filters, str(len(events))) as bare,
        world.child("-m", "bench.publisher", url, str(file)) as publisher,
    ):
        world.line_of(bare)
        start(publisher)
        counted = json.loads(world.line_of(bare))
        return float(counted["events"] / counted["seconds"])


def host_rate(
    url: str, groups: list[str], ganas: int, file: Path, expected: int, embedder: str = "none"
) -> tuple[float, float]:
    """Notes a second that are kept, and those that get a vector a second afterwards (0 without an embedder)."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        env = world.write_project(project, url, groups, ganas, debounce="1h", embedder=embedder)
        with (
            world.child("-m", "bench.hosting", str(project), env=env) as host,
            world.child("-m", "bench.publisher", url, str(file)) as publisher,
        ):
            world.line_of(host)
            start(publisher)
            database = project / "data" / "uniun-bots.sqlite"
            kept = watch_notes(database, expected)
            return kept, embedding_rate(database) if embedder != "none" else 0.0


def watch_notes(database: Path, expected: int) -> float:
    """Notes a second between the first sight of any and the last that came."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        first = last = time.perf_counter()
        first_count = count = 0
        while count < expected:
            seen = conn.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]
            now = time.perf_counter()
            if seen > count:
                if count == 0:
                    first, first_count = now, seen
                count, last = seen, now
            elif now - last > QUIET_S and count:
                break
            time.sleep(0.01)
        return (count - first_count) / (last - first)


def embedding_rate(database: Path) -> float:
    """Vectors a second, from the first one on."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        began, first, ended = time.perf_counter(), 0.0, time.perf_counter() + 2 * BACKLOG_S
        count = 0
        while time.perf_counter() < ended:
            time.sleep(0.1)
            count = conn.execute("SELECT count(*) FROM embeddings").fetchone()[0]
            if count and not first:
                first, began, ended = count, time.perf_counter(), time.perf_counter() + BACKLOG_S
        return (count - first) / (time.perf_counter() - began)


def start(publisher: object) -> None:
    world.line_of(publisher)  # type: ignore[arg-type]
    publisher.stdin.write("go\n")  # type: ignore[attr-defined]
    publisher.stdin.flush()  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Setting:
    """How many Ganas, over how many groups; both sides read all of the groups."""

    ganas: int
    groups: int


ONE, SPREAD, SAME = Setting(1, 1), Setting(1000, 1000), Setting(1000, 1)
BESIDE = (Setting(100, 100), Setting(100, 1))
"""No goal hangs on these: they show the way between."""


def measured(setting: Setting, events: list[str]) -> tuple[float, float]:
    """(bare, host)"""
    groups = world.group_ids(setting.groups)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(events))
        file.flush()
        with world.relay() as url:
            bare = bare_rate(url, groups, events, Path(file.name))
        with world.relay() as url:
            host, _ = host_rate(url, groups, setting.ganas, Path(file.name), len(events))
    return bare, host


def with_embedder(count: int) -> tuple[float, float, float]:
    """Rates without and with an embedder, one after the other, and that of the backlog."""
    groups = world.group_ids(1)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(world.group_messages(groups, count)))
        file.flush()
        with world.relay() as url:
            off, _ = host_rate(url, groups, 1, Path(file.name), count)
        with world.relay() as url:
            on, backlog = host_rate(url, groups, 1, Path(file.name), count, "minilm")
    return off, on, backlog


def main() -> None:
    quick = arguments(__doc__).quick
    count, rounds = (3_000, 1) if quick else (10_000, 5)
    settings = (ONE, SPREAD, SAME) if quick else (ONE, SPREAD, SAME, *BESIDE)
    events = {groups: world.group_messages(world.group_ids(groups), count) for groups in (1, 100, 1000)}
    found: dict[Setting, list[tuple[float, float]]] = {setting: [] for setting in settings}
    for _ in range(rounds):
        for setting in settings:
            found[setting].append(measured(setting, events[setting.groups]))
    raw = {
        f"{setting.ganas} on {setting.groups}": {
            "bare": [round(bare) for bare, _ in pairs],
            "host": [round(host) for _, host in pairs],
        }
        for setting, pairs in found.items()
    }
    over_bare = {setting: [host / bare for bare, host in pairs] for setting, pairs in found.items()}
    # Each host is held against the bare client of its own groups: the filters cost the relay something too.
    spread = [many / one for many, one in zip(over_bare[SPREAD], over_bare[ONE], strict=True)]
    same = [many / one for (_, many), (_, one) in zip(found[SAME], found[ONE], strict=True)]
    report("ingest.rate_over_bare", statistics.median(over_bare[ONE]), count * rounds, raw, quick=quick)
    for where, ratios in (("spread", spread), ("same", same)):
        report(
            f"ingest.thousand_over_one.{where}", statistics.median(ratios), count * rounds, raw, quick=quick
        )
    pairs = [with_embedder(count) for _ in range(rounds)]
    told = {
        "without": [round(off) for off, _, _ in pairs],
        "with": [round(on) for _, on, _ in pairs],
        "backlog_notes_per_s": [round(backlog, 1) for _, _, backlog in pairs],
    }
    ratio = statistics.median(on / off for off, on, _ in pairs)
    report("ingest.embedder_resting", ratio, count * rounds, told, quick=quick)


if __name__ == "__main__":
    main()
