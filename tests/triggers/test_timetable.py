from __future__ import annotations

import sqlite3
import sys
import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factory import NOW, gana
from tests.stores import count
from uniun_bots.triggers.timetable import Entry, enter, forget, move_on, next_due, rule_of

DAY = 86_400
STANDALONE: dict[str, Any] = {"input": None, "output": {"type": "feed"}}
HOURLY = gana(trigger="on-schedule", every="1h")
DAILY = gana(trigger="on-schedule", cron="0 9 * * *")
ONCE = gana(trigger="once-on-enable")


def stamp(local: str, zone: str) -> float:
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp()


def firings(rule: str, start: str, end: str, zone: str) -> list[str]:
    """Local times with their offsets, between two local times."""
    now, until = stamp(start, zone), stamp(end, zone)
    times = []
    while (due := next_due(rule, now, zone)) is not None and due <= until:
        assert due > now, "it would run for ever"
        times.append(datetime.fromtimestamp(due, ZoneInfo(zone)).strftime("%d %H:%M%z"))
        now = due
    return times


# rules ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"trigger": "every-message"}, ""),
        ({"trigger": "once-on-first-message"}, ""),
        ({"trigger": "every-message", "every": "1h"}, ""),
        ({"trigger": "once-on-enable"}, "once"),
        ({"trigger": "on-schedule", "every": "90m"}, "every 5400"),
        ({"trigger": "message-or-schedule", "cron": "0  9 * * *"}, "cron 0 9 * * *"),
    ],
)
def test_the_rule_of_a_gana(fields: dict[str, Any], rule: str) -> None:
    assert rule_of(gana(**fields)) == rule


def test_every_counts_from_the_time_before() -> None:
    assert next_due("every 300", NOW + 0.7, "Europe/Berlin") == NOW + 300


def test_once_has_no_next_time() -> None:
    assert next_due("once", NOW, "UTC") is None


@pytest.mark.parametrize(
    ("zone", "utc"),
    [
        ("UTC", "09:00"),
        ("Europe/Berlin", "08:00"),
        ("America/New_York", "14:00"),
        ("Asia/Kathmandu", "03:15"),
        ("Pacific/Auckland", "20:00"),
    ],
)
def test_a_cron_line_is_read_in_the_zone_of_the_host(zone: str, utc: str) -> None:
    due = next_due("cron 0 9 * * *", stamp("2026-01-10T12:00", "UTC"), zone)
    assert due is not None
    assert datetime.fromtimestamp(due, ZoneInfo("UTC")).strftime("%H:%M") == utc


def test_nine_in_the_morning_stays_nine_when_the_clocks_change() -> None:
    for month in ("2026-03", "2026-10"):
        times = firings("cron 0 9 * * *", f"{month}-01T00:00", f"{month}-31T12:00", "Europe/Berlin")
        assert [time[:8] for time in times] == [f"{day:02} 09:00" for day in range(1, 32)]


def test_a_time_that_the_clocks_skip_still_has_its_run_that_day() -> None:
    times = firings("cron 30 2 * * *", "2026-03-28T00:00", "2026-03-30T12:00", "Europe/Berlin")
    assert times == ["28 02:30+0100", "29 03:00+0200", "30 02:30+0200"]


@pytest.mark.parametrize(
    ("line", "zone", "days"),
    [
        ("30 2 * * *", "Europe/Berlin", ("2026-10-24", "2026-10-26")),
        ("30 1 * * *", "America/New_York", ("2026-10-31", "2026-11-02")),
        ("45 1 * * *", "Australia/Lord_Howe", ("2026-04-04", "2026-04-06")),
    ],
)
def test_a_time_that_the_clocks_repeat_has_one_run(line: str, zone: str, days: tuple[str, str]) -> None:
    times = firings(f"cron {line}", f"{days[0]}T00:00", f"{days[1]}T12:00", zone)
    assert len(times) == 3


def test_every_hour_means_every_hour_when_the_clocks_change() -> None:
    back = firings("cron 0 * * * *", "2026-10-25T00:30", "2026-10-25T04:30", "Europe/Berlin")
    assert back == [
        f"25 {time}" for time in ("01:00+0200", "02:00+0200", "02:00+0100", "03:00+0100", "04:00+0100")
    ]
    ahead = firings("cron 0 * * * *", "2026-03-29T00:30", "2026-03-29T04:30", "Europe/Berlin")
    assert ahead == [f"29 {time}" for time in ("01:00+0100", "03:00+0200", "04:00+0200")]


@given(
    line=st.sampled_from(
        ["0 9 * * *", "30 2 * * *", "*/5 * * * *", "0 */2 * * *", "15 1-3 * * 0", "0 0 29 2 *"]
    ),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata"]),
    after=st.floats(1_735_689_600, 1_830_297_600),
)
def test_the_next_time_is_always_later(line: str, zone: str, after: float) -> None:
    due = next_due(f"cron {line}", after, zone)
    assert due is not None
    assert due > after
    again = next_due(f"cron {line}", due, zone)
    assert again is not None
    assert again - due >= 300
    local = datetime.fromtimestamp(after, ZoneInfo(zone)) + timedelta(days=4 * 366)
    assert due <= local.timestamp()


@pytest.fixture
def no_zone_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "tzdata", None)
    paths = zoneinfo.TZPATH
    zoneinfo.reset_tzpath(())
    ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath(paths)


@pytest.mark.usefixtures("no_zone_database")
def test_utc_needs_no_zone_database() -> None:
    with pytest.raises(zoneinfo.ZoneInfoNotFoundError):
        ZoneInfo("UTC")
    assert next_due("cron 0 9 * * *", 1_750_000_000, "UTC") == 1_750_064_400


# entries ----------------------------------------------------------------------------------------------


def test_a_new_rule_starts_at_now(tx: sqlite3.Connection) -> None:
    assert enter(tx, HOURLY, NOW, "UTC") == Entry(HOURLY.id, NOW + 3600)


def test_a_restart_leaves_the_entry_as_it_stands(tx: sqlite3.Connection) -> None:
    first = enter(tx, HOURLY, NOW, "UTC")
    assert enter(tx, HOURLY, NOW + 100, "UTC") == first
    assert enter(tx, HOURLY, NOW + 50_000, "UTC") == first, "a missed one is due still"


def test_missed_times_are_one_run(tx: sqlite3.Connection) -> None:
    first = enter(tx, HOURLY, NOW, "UTC")
    assert first is not None
    back = NOW + 10.5 * 3600
    moved = move_on(tx, HOURLY.id, first.due, back, "UTC")
    assert moved == Entry(HOURLY.id, int(back) + 3600)


def test_an_entry_that_is_done_early_does_not_come_again(tx: sqlite3.Connection) -> None:
    """The clock was set back while it ran."""
    first = enter(tx, DAILY, NOW, "Europe/Berlin")
    assert first is not None
    assert move_on(tx, DAILY.id, first.due, first.due - 3600, "Europe/Berlin") == Entry(
        DAILY.id, first.due + DAY
    )


def test_moving_on_twice_moves_once(tx: sqlite3.Connection) -> None:
    first = enter(tx, HOURLY, NOW, "UTC")
    assert first is not None
    moved = move_on(tx, HOURLY.id, first.due, first.due, "UTC")
    assert move_on(tx, HOURLY.id, first.due, first.due + 9000, "UTC") == moved


def test_moving_on_what_stands_nowhere_is_nothing(tx: sqlite3.Connection) -> None:
    assert move_on(tx, HOURLY.id, NOW, NOW, "UTC") is None
    assert count(tx, "timetable") == 0


def test_a_changed_rule_starts_at_now(tx: sqlite3.Connection) -> None:
    enter(tx, HOURLY, NOW, "UTC")
    changed = gana(trigger="on-schedule", every="2h")
    assert enter(tx, changed, NOW + 60, "UTC") == Entry(HOURLY.id, NOW + 60 + 7200)
    assert count(tx, "timetable") == 1


def test_a_gana_without_a_timer_has_no_entry(tx: sqlite3.Connection) -> None:
    enter(tx, HOURLY, NOW, "UTC")
    assert enter(tx, gana(trigger="every-message"), NOW, "UTC") is None
    assert count(tx, "timetable") == 0


def test_a_rule_that_was_forgotten_starts_anew(tx: sqlite3.Connection) -> None:
    enter(tx, HOURLY, NOW, "UTC")
    forget(tx, HOURLY.id)
    assert enter(tx, HOURLY, NOW + 7200, "UTC") == Entry(HOURLY.id, NOW + 7200 + 3600)


def test_once_is_due_at_once_and_never_again(tx: sqlite3.Connection) -> None:
    assert enter(tx, ONCE, NOW + 0.9, "UTC") == Entry(ONCE.id, NOW)
    assert move_on(tx, ONCE.id, NOW, NOW + 5, "UTC") is None
    assert enter(tx, ONCE, NOW + 9000, "UTC") == Entry(ONCE.id, NOW), "its key is the same: decided already"
