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


def sections() -> dict[str, str]:
    """What earlier runs left, by benchmark."""
    if not RESULTS.exists():
        return {}
    parts = RESULTS.read_text().split("\n## ")[1:]
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() for part in parts}


def keep(bench: str, lines: list[dict[str, Any]]) -> None:
    """In the file at once: the next benchmark may take long."""
    told = sections()
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    machine = f"{cpu()}, Python {platform.python_version()}, {platform.system()} {platform.release()}"
    told[bench] = f"`python -m bench.all {bench}` on {when}, {machine}.\n\n{table(lines)}"
    ordered = [name for name in dict.fromkeys(goal.bench for goal in GOALS) if name in told]
    body = "\n\n".join(f"## {name}\n\n{told[name]}" for name in ordered)
    RESULTS.write_text(
        f"# Benchmark results\n\nWritten by `make bench`, in full and not `--quick`.\n\n{body}\n"
    )


def main() -> None:
    given = arguments(__doc__, names=True)
    every = dict.fromkeys(goal.bench for goal in GOALS)
    chosen = [bench for bench in every if bench in (given.only or every)]
    met = True
    for bench in chosen:
        if bench == NEEDS_DATA and not given.data:
            continue
        lines = lines_of(bench, given.quick, given.data)
        met = met and all(line["ok"] for line in lines)
        if not given.quick:
            keep(bench, lines)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
