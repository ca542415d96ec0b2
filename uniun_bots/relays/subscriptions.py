"""What one relay is asked to send live, and what it made of each REQ. The link does the talking."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.fates import prefix_of
from uniun_bots.relays.relay_status import RefusedRead

FINAL = ("restricted", "blocked", "invalid", "unsupported", "pow")
MOST_REQS = 15
"""Beyond it several filters share a REQ: relays commonly allow twenty."""
FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 120.0


@dataclass(slots=True)
class Subscription:
    id: str
    filters: tuple[Filter, ...]
    sent_at: float | None = None
    """Seconds of the monotonic clock; None: to be sent."""
    confirmed: bool = False
    wants_login: bool = False
    refused: str = ""
    retry_at: float = 0.0
    logins: int = 0
    """How many there had been on this connection when it was sent."""
    closes: int = 0


class Subscriptions:
    """Ids stay far under the 64 characters that NIP-01 allows, and are unique per relay."""

    def __init__(self) -> None:
        self._all: dict[tuple[Filter, ...], Subscription] = {}
        self._dropped: list[str] = []
        self._count = 0
        self._logins = 0

    def want(self, filters: Iterable[Filter]) -> None:
        each = list(dict.fromkeys(filters))
        size = -(-len(each) // MOST_REQS) or 1
        wanted = dict.fromkeys(tuple(each[n : n + size]) for n in range(0, len(each), size))
        for gone in self._all.keys() - wanted.keys():
            self._dropped.append(self._all.pop(gone).id)
        for new in [group for group in wanted if group not in self._all]:
            self._count += 1
            self._all[new] = Subscription(f"live-{self._count}", new)

    def begin(self) -> None:
        """A new connection: nothing is open on it, and an old refusal may be over."""
        self._dropped.clear()
        self._logins = 0
        for subscription in list(self._all.values()):
            self._all[subscription.filters] = Subscription(subscription.id, subscription.filters)

    def due(self, now: float) -> list[Subscription]:
        """To be sent now; marks them as sent."""
        found = [
            s for s in self._all.values() if s.sent_at is None and not self._stuck(s) and s.retry_at <= now
        ]
        for subscription in found:
            subscription.sent_at, subscription.logins, subscription.confirmed = now, self._logins, False
        return found

    def dropped(self) -> list[str]:
        gone, self._dropped = self._dropped, []
        return gone

    def heard(self, subscription_id: str) -> bool:
        """An EVENT or EOSE for it came. Whether it is the first one."""
        found = self._by_id(subscription_id)
        if found is None or found.confirmed:
            return False
        found.confirmed = True
        return True

    def closed(self, subscription_id: str, message: str, now: float) -> bool:
        """The relay ended it (CLOSED). Whether that subscription was ours."""
        found = self._by_id(subscription_id)
        if found is None:
            return False
        found.closes += 1
        found.sent_at, found.confirmed = None, True
        prefix = prefix_of(message)
        if prefix == "auth-required":
            # A refusal that crossed our login: the same REQ is fine now.
            found.wants_login = found.logins == self._logins
        elif prefix in FINAL:
            found.refused = message
        else:
            found.retry_at = now + min(FIRST_RETRY_S * 2 ** min(found.closes - 1, 10), LONGEST_RETRY_S)
        return True

    def want_login(self) -> bool:
        return any(s.wants_login for s in self._all.values())

    def logged_in(self) -> None:
        self._logins += 1
        for subscription in self._all.values():
            subscription.wants_login = False

    def refuse(self, reason: str) -> None:
        """There is no way to log in: what waits for it is refused until the next connection."""
        for subscription in self._all.values():
            if subscription.wants_login:
                subscription.wants_login, subscription.refused = False, reason

    def refused(self) -> tuple[RefusedRead, ...]:
        return tuple(RefusedRead(_shown(s.filters), s.refused) for s in self._all.values() if s.refused)

    def unconfirmed(self, now: float, patience_s: float) -> tuple[str, ...]:
        """Sent, and no EVENT, EOSE or CLOSED within the patience: the relay may not be serving it."""
        return tuple(
            _shown(s.filters)
            for s in self._all.values()
            if s.sent_at is not None and not s.confirmed and now - s.sent_at > patience_s
        )

    def unanswered(self, now: float, patience_s: float) -> bool:
        """Whether one is about to be sent, or was within the patience and nothing came back."""
        return any(
            not s.confirmed and not self._stuck(s) and (s.sent_at is None or now - s.sent_at <= patience_s)
            for s in self._all.values()
        )

    def _stuck(self, subscription: Subscription) -> bool:
        return subscription.wants_login or bool(subscription.refused)

    def _by_id(self, subscription_id: str) -> Subscription | None:
        return next((s for s in self._all.values() if s.id == subscription_id), None)


def _shown(wanted: tuple[Filter, ...]) -> str:
    text = ",".join(json.dumps(one.as_json_object(), separators=(",", ":")) for one in wanted)
    return text if len(text) <= 200 else f"{text[:199]}…"
