"""NIP-42 on one relay: whether we may log in, with which challenge, and how often."""

from __future__ import annotations

import logging

from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.signer import Signer

log = logging.getLogger(__name__)

AUTH_KIND = 22242
MOST_LOGINS = 3
"""Per connection: a relay that keeps asking gets no more signatures until the next one."""
LONGEST_CHALLENGE = 4096


class Login:
    def __init__(self, url: str, allowed: bool, signer: Signer | None) -> None:
        self._url, self._allowed, self._signer = url, allowed, signer
        self.begin()

    def begin(self) -> None:
        """A new connection."""
        self._challenge = ""
        self._left = MOST_LOGINS
        self.refusal = ""
        self.times = 0
        """Successful ones on this connection."""

    def challenged(self, challenge: str) -> None:
        """Only the newest challenge counts; however many come, one is kept."""
        self._challenge = challenge[:LONGEST_CHALLENGE]

    @property
    def wanted(self) -> bool:
        """The relay greets with a challenge and we may log in: do it before it refuses anything."""
        return bool(self._challenge) and self._left == MOST_LOGINS and self._may

    @property
    def _may(self) -> bool:
        return self._allowed and self._signer is not None

    async def sign(self, now: float) -> Event | None:
        """The kind 22242 for the newest challenge; None with `refusal` set when there will be none."""
        self.refusal = self._obstacle()
        if self.refusal or self._signer is None:
            return None
        self._left -= 1
        tags = (("relay", self._url), ("challenge", self._challenge))
        return await self._signer.sign(Draft(AUTH_KIND, "", tags, int(now)))

    def _obstacle(self) -> str:
        if not self._allowed:
            return f"{self._url} demands a login: write `auth: true` beside it in the relay set to allow that"
        if self._signer is None:
            return f"{self._url} demands a login and there is no identity to log in with"
        if not self._challenge:
            return f"{self._url} demands a login and sent no challenge to sign"
        if self._left <= 0:
            log.warning("%s was logged in to %d times and demands more: left alone", self._url, MOST_LOGINS)
            return f"{self._url} demands a login again after {MOST_LOGINS} on this connection"
        return ""
