"""A NIP-01 filter as a value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from uniun_bots.nostr.event import Event


@dataclass(frozen=True, slots=True)
class Filter:
    """All given conditions must hold; an empty tuple means "not asked". Ids and keys are lower-case hex."""

    kinds: tuple[int, ...] = ()
    authors: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    tags: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())
    """Pairs of a single letter and the values of which an event must carry one."""
    since: int | None = None
    until: int | None = None
    limit: int | None = None

    def within(self, since: int | None = None, until: int | None = None, limit: int | None = None) -> Filter:
        return replace(self, since=since, until=until, limit=limit)

    def matches(self, event: Event) -> bool:
        """As a relay would decide (limit aside)."""
        return (
            (not self.kinds or event.kind in self.kinds)
            and (not self.authors or event.author in self.authors)
            and (not self.ids or event.id in self.ids)
            and (self.since is None or event.created_at >= self.since)
            and (self.until is None or event.created_at <= self.until)
            and all(any(v in values for v in event.tag_values(name)) for name, values in self.tags)
        )

    def as_json_object(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for name in ("kinds", "authors", "ids"):
            if values := getattr(self, name):
                found[name] = list(values)
        for letter, wanted in self.tags:
            found[f"#{letter}"] = list(wanted)
        for name in ("since", "until", "limit"):
            if (value := getattr(self, name)) is not None:
                found[name] = value
        return found
