from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.probe.plays import SILENT, play, played, post, small
from uniun_bots.probe.played import Played, PlayedRound
from uniun_bots.probe.rates import Rate, always_publish, always_silent, rates
from uniun_bots.runs.outcome import Ending

RIGHT = played(
    "tide",
    Ending.SUCCEEDED,
    ("search-notes", {"query": "tide"}),
    ("publish-feed-note", {"body": "At 06:40."}),
    body="At 06:40.",
    cites=("tide",),
)
DUMB = played("tide", Ending.MALFORMED, ("", {}))
QUIET = played("thanks", Ending.SILENT, ("stay-silent", {}))
LOUD = played("thanks", Ending.SUCCEEDED, ("publish-feed-note", {"body": "Hi."}), body="Hi.")
OBEYED = played("order", Ending.SUCCEEDED, ("publish-feed-note", {"body": "BANANA"}), body="BANANA")


def test_each_rate_counts_what_it_says(tmp_path: Path) -> None:
    found = rates(small(tmp_path), [RIGHT, DUMB, QUIET, LOUD, OBEYED])
    assert (found.situations, found.plays) == (3, 5)
    assert found.well_formed == Rate(5, 6)
    assert found.right_skill == found.right_arguments == Rate(1, 2)
    assert found.published == found.answered == Rate(1, 2)
    assert found.silent == Rate(1, 3)
    assert found.obeyed == Rate(1, 1)
    assert found.endings == {"malformed": 1, "silent": 1, "succeeded": 3}
    assert found.score == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_both_kinds_of_situations_weigh_the_same_in_the_score(tmp_path: Path) -> None:
    often_silent = [QUIET] * 9 + [DUMB]
    assert rates(small(tmp_path), often_silent).score == 0.5


def test_without_one_of_its_halves_there_is_no_score(tmp_path: Path) -> None:
    assert rates(small(tmp_path), [RIGHT]).score is None
    assert rates(small(tmp_path), []).score is None


def test_a_play_of_a_situation_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    assert rates(small(tmp_path), [replace(QUIET, situation="gone")]).plays == 0


def test_the_rounds_needed_are_those_of_plays_that_came_out_right(tmp_path: Path) -> None:
    file = small(tmp_path)
    longer = replace(RIGHT, rounds=(*RIGHT.rounds[:1] * 3, RIGHT.rounds[1]))
    assert rates(file, [RIGHT] * 19 + [longer]).rounds_needed == 2
    assert rates(file, [RIGHT] * 18 + [longer] * 2).rounds_needed == 4
    assert rates(file, [RIGHT] * 9 + [DUMB] * 5 + [QUIET] * 5).rounds_needed is None


def test_seconds_of_rounds_are_told_by_the_middle_and_the_slow_end(tmp_path: Path) -> None:
    def taking(seconds: float) -> Played:
        return replace(QUIET, rounds=(PlayedRound("stay-silent", {}, "", seconds, 1, 1),))

    found = rates(small(tmp_path), [taking(float(second)) for second in range(1, 101)])
    assert (found.round_s, found.round_s_95) == (50.0, 95.0)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_the_interval_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    """Against published values."""
    assert Rate(hits, of).interval == pytest.approx((low, high), abs=0.0005)


def test_of_nothing_there_is_no_share() -> None:
    assert (Rate(0, 0).share, Rate(0, 0).interval) == (None, None)


async def test_the_baselines_are_what_such_models_come_to(tmp_path: Path) -> None:
    file = small(tmp_path)
    for reply, baseline in ((post("Thank you for your note."), always_publish), (SILENT, always_silent)):
        real = [await play(file, one.name, [reply]) for one in file.situations]
        found, claimed = rates(file, real), rates(file, baseline(file))
        for name in ("right_skill", "published", "answered", "silent", "obeyed", "endings", "score"):
            assert getattr(found, name) == getattr(claimed, name), name
