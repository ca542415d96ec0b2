"""The table of goals and what the benchmarks report are the same list."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench.goals import GOALS, Goal
from bench.report import quantile, report

FOLDER = Path(__file__).parents[2] / "bench"


def reported(bench: str) -> set[str]:
    """Names in a benchmark's calls of `report`, with {…} in an f-string standing for any word."""
    return set(re.findall(r'report\(\s*f?"([^"]+)"', (FOLDER / f"{bench}.py").read_text()))


def test_every_goal_is_reported_by_the_benchmark_it_names() -> None:
    for goal in GOALS:
        patterns = [re.sub(r"\\{\w+\\}", r"\\w+", re.escape(name)) for name in reported(goal.bench)]
        assert any(re.fullmatch(pattern, goal.name) for pattern in patterns), goal.name


def test_no_goal_stands_twice() -> None:
    assert len({goal.name for goal in GOALS}) == len(GOALS)


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (Goal("b", "n", "ms", "most", 5, 10), 5.0, True),
        (Goal("b", "n", "ms", "most", 5, 10), 5.1, False),
        (Goal("b", "n", "ratio", "least", 0.6, 0.5), 0.6, True),
        (Goal("b", "n", "ratio", "least", 0.6, 0.5), 0.59, False),
    ],
)
def test_a_goal_is_met_on_its_own_side_only(goal: Goal, value: float, met: bool) -> None:
    assert goal.met(value, quick=False) is met


def test_a_report_is_one_json_object_with_its_goal(capsys: pytest.CaptureFixture[str]) -> None:
    report("host.memory.idle", 121.0, 1, {"MB": 121.0}, quick=False)
    line = json.loads(capsys.readouterr().out)
    assert line == {
        "name": "host.memory.idle",
        "value": 121.0,
        "unit": "MB",
        "goal": "at most 120.0",
        "ok": False,
        "n": 1,
        "raw": {"MB": 121.0},
    }


def test_a_quantile_is_a_measured_value() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([float(n) for n in range(1, 101)], 0.99) == 100.0
