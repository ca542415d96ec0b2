"""What decides which job runs next, in a few lines for people. The whole of it is in `status --json`."""

from __future__ import annotations

from typing import Any

from uniun_bots.cli.folder import when

MOST_GANAS = 5


def seat_lines(seat: dict[str, Any]) -> list[str]:
    tiers = {name: count for name, count in seat["tiers"].items() if count}
    waiting = ", ".join(f"{count} {name}" for name, count in tiers.items()) or "nobody"
    running = ", ".join(f"{one['for']} ({one['tier']})" for one in seat["running"]) or "nothing"
    lines = [
        f"seat {seat['seat']}: {seat['loaded'] or 'no model'} loaded, running {running}, waiting {waiting}"
    ]
    if seat["background_held_back"]:
        lines.append("background work waits for a chat")
    if shares := _shares(seat):
        lines.append(shares)
    if used := seat["extract"]["used_s"]:
        lines.append(f"extraction used {used:.0f} s of the {seat['extract']['limit_s']:.0f} s it may")
    if seat["preemptions"]:
        last, times = seat["preemptions"][-1], seat["counters"]["preempted"]
        lines.append(
            f"gave way {times} times, the last one {last['owner']} {when(last['at'])}: {last['reason']}"
        )
    return lines


def _shares(seat: dict[str, Any]) -> str:
    """Those that had most of the engine, with what the others would have to get first."""
    spent = sorted(seat["engine_seconds"].items(), key=lambda one: -one[1])[:MOST_GANAS]
    ahead = seat["runtimes"]
    told = [
        f"{owner} {seconds:.0f} s" + (f" ({ahead[owner]:.0f} s ahead)" if ahead.get(owner, 0) >= 1 else "")
        for owner, seconds in spent
        if seconds >= 1
    ]
    return f"had the engine: {', '.join(told)}" if told else ""
