"""Run the benchmarks; in full it writes bench/results.md: `python -m bench.all [--quick] [NAME…]`."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.goals import GOALS
from bench.report import arguments

NEEDS_DATA = "retrieval_quality"
"""Left out without `--data`: the collection is not ours to ship."""
RESULTS = Path(__file__).parent / "results.md"


def lines_of(bench: str, quick: bool, data: Path | None) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", f"bench.{bench}", *(["--quick"] if quick else [])]
    if bench == NEEDS_DATA:
        command += ["--data", str(data)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode:
        raise SystemExit(f"bench.{bench} ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def cpu() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def table(lines: list[dict[str, Any]]) -> str:
    rows = ["| value | measured | unit | goal | met | raw |", "| --- | --- | --- | --- | --- | --- |"]
    for line in lines:
        raw = json.dumps(line["raw"]).replace("|", "\\|")
        rows.append(
            f"| {line['name']} | {line['value']} | {line['unit']} | {line['goal']}"
            f" | {'yes' if line['ok'] else 'no'} | `{raw}` |"
        )
    return "\n".join(rows)


def main() -> None:
    given = arguments(__doc__, names=True)
    quick, every = given.quick, dict.fromkeys(goal.bench for goal in GOALS)
    chosen = [bench for bench in every if bench in (given.only or every)]
    benches = [bench for bench in chosen if given.data or bench != NEEDS_DATA]
    lines = [line for bench in benches for line in lines_of(bench, quick, given.data)]
    if not quick:
        RESULTS.write_text(
            f"# Benchmark results\n\nWritten by `make bench` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC,"
            f" {cpu()}, Python {platform.python_version()}, {platform.system()} {platform.release()}.\n\n"
            f"{table(lines)}\n"
        )
    sys.exit(0 if all(line["ok"] for line in lines) else 1)


if __name__ == "__main__":
    main()
