"""What a benchmark prints: one JSON object a line, the same form for all."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.goals import goal_of


def arguments(what: str | None, *, names: bool = False, data: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=what)
    if names:
        parser.add_argument("only", nargs="*", help="these benchmarks; default: all")
    parser.add_argument("--quick", action="store_true", help="smaller data with its own goals, under 50 s")
    if names or data:
        told = "the folder of the Cranfield collection" + (" for retrieval_quality" if names else "")
        parser.add_argument("--data", type=Path, required=data, help=told)
    return parser.parse_args()


def report(name: str, value: float, n: int, raw: Any, *, quick: bool) -> None:
    """`n`: how many single measurements stand behind the value; `raw`: both sides' own numbers."""
    goal = goal_of(name)
    line = {
        "name": name,
        "value": round(value, 4),
        "unit": goal.unit,
        "goal": f"at {goal.at} {goal.quick if quick else goal.full}",
        "ok": goal.met(value, quick=quick),
        "n": n,
        "raw": raw,
    }
    print(json.dumps(line), flush=True)


def quantile(values: Sequence[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "min": round(min(values), 3),
        "p50": round(statistics.median(values), 3),
        "p99": round(quantile(values, 0.99), 3),
        "max": round(max(values), 3),
    }
