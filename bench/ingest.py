"""Verified events a second, from relay to committed note, beside a bare client that only counts.

The same burst goes to fresh relays; in turn a bare nostr-sdk client and hosts with 1, 100 and 1,000 Ganas (spread
over as many groups, and all on one group) take it live. A host's clock stops when the last note is committed,
with edges, topics, surfaces, full text and wakeups. One of the hosts has the default embedder on: it rests while notes
stream in, so the rate should be the same, and how fast it works off the backlog afterwards stands in `raw`.

All of it is done in several rounds, since a machine is faster in one second than in the next: ratios are taken within
a round, and their median is told.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import world
from bench.report import arguments, report

QUIET_S = 3.0
BACKLOG_S = 6.0
"""How long the embedder is watched after the burst."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How many Ganas, over how many groups; both sides read all of the groups."""

    ganas: int
    groups: int


ONE, SPREAD, SAME = Setting(1, 1), Setting(1000, 1000), Setting(1000, 1)
BESIDE = (Setting(100, 100), Setting(100, 1))
"""No goal hangs on these: they show the way between."""


@dataclass(frozen=True, slots=True)
class Burst:
    file: Path
    groups: list[str]
    count: int


def burst(folder: Path, groups: int, count: int) -> Burst:
    names = world.group_ids(groups)
    file = folder / f"{groups}.jsonl"
    file.write_text("\n".join(world.group_messages(names, count)))
    return Burst(file, names, count)


def bare_rate(sent: Burst) -> float:
    with (
        world.relay() as url,
        world.child(
            "-m", "bench.bare", "count", url, world.filters_json(sent.groups), str(sent.count)
        ) as bare,
        world.child("-m", "bench.publisher", url, str(sent.file)) as publisher,
    ):
        world.line_of(bare)
        start(publisher)
        counted = json.loads(world.line_of(bare))
        return float(counted["events"] / counted["seconds"])


def host_rate(ganas: int, sent: Burst, embedder: str = "none") -> tuple[float, float]:
    """Notes a second that are kept, and those that get a vector a second afterwards (0 without an embedder)."""
    with tempfile.TemporaryDirectory() as folder, world.relay() as url:
        project = Path(folder) / "project"
        env = world.write_project(project, url, sent.groups, ganas, debounce="1h", embedder=embedder)
        with (
            world.child("-m", "bench.hosting", str(project), env=env) as host,
            world.child("-m", "bench.publisher", url, str(sent.file)) as publisher,
        ):
            world.line_of(host)
            start(publisher)
            database = project / "data" / "uniun-bots.sqlite"
            kept = watch_notes(database, sent.count)
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
class Round:
    """Events a second, one after the other."""

    bare: dict[int, float]
    """By the number of groups."""
    host: dict[Setting, float]
    embedding: float
    """The host of ONE with an embedder."""
    backlog: float
    """Vectors a second afterwards."""

    def over_bare(self, setting: Setting) -> float:
        """Held against the bare client of the same groups: the filters cost the relay something too."""
        return self.host[setting] / self.bare[setting.groups]


def measured(settings: Sequence[Setting], bursts: Mapping[int, Burst]) -> Round:
    bare: dict[int, float] = {}
    host: dict[Setting, float] = {}
    for groups, sent in bursts.items():
        bare[groups] = bare_rate(sent)
        host |= {at: host_rate(at.ganas, sent)[0] for at in settings if at.groups == groups}
    return Round(bare, host, *host_rate(ONE.ganas, bursts[ONE.groups], "minilm"))


def main() -> None:
    quick = arguments(__doc__).quick
    count, rounds = (3_000, 1) if quick else (10_000, 3)
    # ONE is the last, beside the same with an embedder.
    settings = (SPREAD, SAME, ONE) if quick else (SPREAD, *BESIDE, SAME, ONE)
    with tempfile.TemporaryDirectory() as folder:
        wanted = dict.fromkeys(at.groups for at in settings)
        bursts = {groups: burst(Path(folder), groups, count) for groups in wanted}
        found = [measured(settings, bursts) for _ in range(rounds)]
    tell(settings, found, count * rounds, quick=quick)


def tell(settings: Sequence[Setting], found: Sequence[Round], n: int, *, quick: bool) -> None:
    raw = {f"bare on {groups}": [round(one.bare[groups]) for one in found] for groups in found[0].bare}
    raw |= {f"{at.ganas} on {at.groups}": [round(one.host[at]) for one in found] for at in settings}
    over_bare = statistics.median(one.over_bare(ONE) for one in found)
    report("ingest.rate_over_bare", over_bare, n, raw, quick=quick)
    spread = statistics.median(one.over_bare(SPREAD) / one.over_bare(ONE) for one in found)
    report("ingest.thousand_over_one.spread", spread, n, raw, quick=quick)
    same = statistics.median(one.host[SAME] / one.host[ONE] for one in found)
    report("ingest.thousand_over_one.same", same, n, raw, quick=quick)
    told = {
        "without": [round(one.host[ONE]) for one in found],
        "with": [round(one.embedding) for one in found],
        "backlog_notes_per_s": [round(one.backlog, 1) for one in found],
    }
    resting = statistics.median(one.embedding / one.host[ONE] for one in found)
    report("ingest.embedder_resting", resting, n, told, quick=quick)


if __name__ == "__main__":
    main()
