"""Five-field cron lines."""

from __future__ import annotations

from datetime import UTC, datetime

from croniter import CroniterBadDateError, croniter

from uniun_bots.personas.shown import shown

_SHORTEST_S = 300
_LOOKED_AT = 100


def cron_line(written: str) -> str:
    """The line with single spaces; two firings must be at least 5 minutes apart."""
    fields = written.split()
    line = " ".join(fields)
    if len(fields) != 5 or not croniter.is_valid(line):
        raise ValueError(f'must be a cron line of five fields such as "0 9 * * *", not {shown(written)}')
    if _shortest_gap_s(line) < _SHORTEST_S:
        raise ValueError(f"fires more often than every 5 minutes: {shown(line)}")
    return line


def _shortest_gap_s(line: str) -> float:
    times = croniter(line, datetime(2024, 1, 1, tzinfo=UTC), max_years_between_matches=9)
    try:
        found = [times.get_next(float) for _ in range(_LOOKED_AT)]
    except CroniterBadDateError:
        raise ValueError(f"never fires: {shown(line)}") from None
    return float(min(later - earlier for earlier, later in zip(found, found[1:], strict=False)))
