"""Time zones by name; UTC works on machines without a zone database too."""

from __future__ import annotations

from datetime import UTC, tzinfo
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from uniun_bots.personas.scalars import did_you_mean
from uniun_bots.personas.shown import shown


def zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)


def time_zone(written: str) -> str:
    if written == "UTC" or written in (known := available_timezones()):
        return written
    close = get_close_matches(written[:80], known, 1, 0.7)
    raise ValueError(
        f"is not a known time zone: {shown(written)}{did_you_mean(close)}; write a name such as Europe/Berlin"
    )
