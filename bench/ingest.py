"""Verified events a second, from relay to committed note, beside a bare client that only counts.

The same burst goes to one relay; in turn a bare nostr-sdk client and hosts with 1, 100 and 1,000 Ganas (spread
over as many groups, and all on one group) take it live. A host's clock stops when the last note is committed,
with edges, topics, surfaces, full text and wakeups.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
import time
from pathlib import Path

from bench import world
from bench.report import arguments, report

QUIET_S = 3.0


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


def host_rate(url: str, groups: list[str], ganas: int, file: Path, expected: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        env = world.write_project(project, url, groups, ganas, debounce="1h")
        with (
            world.child("-m", "bench.hosting", str(project), env=env) as host,
            world.child("-m", "bench.publisher", url, str(file)) as publisher,
        ):
            world.line_of(host)
            start(publisher)
            return watch_notes(project / "data" / "uniun-bots.sqlite", expected)


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


def start(publisher: object) -> None:
    world.line_of(publisher)  # type: ignore[arg-type]
    publisher.stdin.write("go\n")  # type: ignore[attr-defined]
    publisher.stdin.flush()  # type: ignore[attr-defined]


def one_round(groups: list[str], ganas: int, count: int) -> tuple[float, float]:
    """(bare, host), on fresh relays with the same kind of burst."""
    events = world.group_messages(groups, count)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(events))
        file.flush()
        with world.relay() as url:
            bare = bare_rate(url, groups, events, Path(file.name))
        with world.relay() as url:
            host = host_rate(url, groups, ganas, Path(file.name), count)
    return bare, host


def main() -> None:
    quick = arguments(__doc__).quick
    count = 3_000 if quick else 20_000
    rounds = {
        "one": one_round(world.group_ids(1), 1, count),
        "thousand.spread": one_round(world.group_ids(1000), 1000, count),
        "thousand.same": one_round(world.group_ids(1), 1000, count),
    }
    if not quick:
        rounds["hundred.spread"] = one_round(world.group_ids(100), 100, count)
        rounds["hundred.same"] = one_round(world.group_ids(1), 100, count)
    raw = {name: {"bare": round(bare), "host": round(host)} for name, (bare, host) in rounds.items()}
    bare, host = rounds["one"]
    report("ingest.rate_over_bare", host / bare, count, raw, quick=quick)
    for where in ("spread", "same"):
        many_bare, many = rounds[f"thousand.{where}"]
        # Each host is held against the bare client of its own round: the filters cost the relay something too.
        ratio = (many / many_bare) / (host / bare) if where == "spread" else many / host
        report(f"ingest.thousand_over_one.{where}", ratio, count, raw, quick=quick)


if __name__ == "__main__":
    main()
