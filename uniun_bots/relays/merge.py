"""Few REQs for many interests: filters that differ in one condition become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.interest import FROM_THE_START, Interest

MOST_VALUES = 500
"""In one condition of one filter: relays refuse longer ones."""


@dataclass(frozen=True, slots=True)
class Merged:
    """One filter to send, and the interests that it serves."""

    filter: Filter
    parts: tuple[Interest, ...]


def merge(interests: Sequence[Interest]) -> list[Merged]:
    """Matches exactly what the interests match; an answer is as complete for each part as for the whole."""
    found = [Merged(_plain(interest.filter), (interest,)) for interest in interests]
    names = sorted({name for item in found for name, _ in item.filter.tags})
    for condition in ["authors", "ids", *(f"#{name}" for name in names), "kinds"]:
        found = _along(condition, found)
    return found


def _along(condition: str, items: Iterable[Merged]) -> list[Merged]:
    groups: dict[object, list[Merged]] = {}
    for item in items:
        values = values_of(item.filter, condition)
        # A filter without the condition matches more than any union of those with it.
        # And beside what is read from the start, everything put together with it would be read from there.
        whole = item.parts[0].since == FROM_THE_START
        rest = (_with(item.filter, condition, ()), bool(values), whole)
        groups.setdefault(rest, []).append(item)
    return [merged for group in groups.values() for merged in _united(condition, group)]


def _united(condition: str, group: list[Merged]) -> list[Merged]:
    """Whole items are put together until a filter is full, so that each part is served by one filter."""
    full: list[Merged] = []
    room: tuple[dict[str | int, None], list[Interest]] = ({}, [])
    for item in group:
        values = values_of(item.filter, condition)
        if room[1] and len(room[0].keys() | set(values)) > MOST_VALUES:
            full.append(_merged(condition, group[0].filter, room))
            room = ({}, [])
        room[0].update(dict.fromkeys(values))
        room[1].extend(item.parts)
    return [*full, _merged(condition, group[0].filter, room)]


def _merged(condition: str, like: Filter, room: tuple[dict[str | int, None], list[Interest]]) -> Merged:
    return Merged(_with(like, condition, tuple(sorted(room[0], key=str))), tuple(room[1]))


def values_of(given: Filter, condition: str) -> tuple[str | int, ...]:
    if condition.startswith("#"):
        return next((values for name, values in given.tags if name == condition[1:]), ())
    values: tuple[str | int, ...] = getattr(given, condition)
    return values


def _with(given: Filter, condition: str, values: tuple[str | int, ...]) -> Filter:
    if not condition.startswith("#"):
        changed: dict[str, Any] = {condition: values}
        return replace(given, **changed)
    others = [(name, old) for name, old in given.tags if name != condition[1:]]
    mine = [(condition[1:], tuple(str(value) for value in values))] if values else []
    return replace(given, tags=tuple(sorted([*others, *mine])))


def _plain(given: Filter) -> Filter:
    """One spelling per meaning, and no window: that is set for each question anew."""
    ordered: Callable[[Iterable[str]], tuple[str, ...]] = lambda values: tuple(sorted(set(values)))  # noqa: E731
    return Filter(
        kinds=tuple(sorted(set(given.kinds))),
        authors=ordered(given.authors),
        ids=ordered(given.ids),
        tags=tuple(sorted((name, ordered(values)) for name, values in given.tags if values)),
    )
