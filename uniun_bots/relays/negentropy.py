"""Set reconciliation as NIP-77 uses it (Negentropy, protocol version 1): the side that asks.

Both sides order their events by time and id. Ranges with equal fingerprints are alike; the others are cut
into sixteen parts until few enough ids are left to be listed. What differs costs words, what is alike hardly
any.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

VERSION = 0x61
SKIP, FINGERPRINT, ID_LIST = 0, 1, 2
PARTS = 16
MOST_BYTES = 60_000
"""Of one message of ours; it goes out as hex, and relays take 128 KiB."""
LONGEST_NUMBER = 10
MODULUS = 2**256
FOREVER = 2**64 - 1

Bound = tuple[int, bytes]
"""Seconds and the beginning of an id: a range ends before it."""


class Negentropy:
    """`open()` is the first word; `answer(word)` takes the relay's and gives ours, None at the end."""

    def __init__(self, known: Iterable[tuple[str, int]]) -> None:
        self._items = sorted({(created_at, bytes.fromhex(event_id)) for event_id, created_at in known})
        sums = accumulate((int.from_bytes(event_id, "little") for _, event_id in self._items), initial=0)
        self._sums = list(sums)
        self.missing: dict[str, None] = {}
        """Ids that the relay has and we have not, as far as is known yet."""

    def open(self) -> bytes:
        out = _Writer()
        self._split(out, 0, len(self._items), (FOREVER, b""))
        return out.message()

    def answer(self, message: bytes) -> bytes | None:
        """Raises ValueError for what is not of this protocol."""
        words, out = _Reader(message), _Writer()
        if (version := words.byte()) != VERSION:
            raise ValueError(f"protocol version {version:#x} is not known")
        low, before, skipped = 0, (0, b""), False
        while words.left():
            bound, mode = words.bound(), words.number()
            high = bisect_left(self._items, bound, lo=low)
            differs = self._differs(words, mode, low, high)
            if differs:
                if skipped:
                    out.bound(before)
                    out.number(SKIP)
                self._split(out, low, high, bound)
            skipped = not differs
            low, before = high, bound
            if len(out.bytes) > MOST_BYTES:
                # The rest as one fingerprint: the relay comes back to it.
                self._fingerprint(out, low, len(self._items), (FOREVER, b""))
                break
        return out.message() if len(out.bytes) > 1 else None

    def _differs(self, words: _Reader, mode: int, low: int, high: int) -> bool:
        if mode == SKIP:
            return False
        if mode == FINGERPRINT:
            return words.take(16) != self._print(low, high)
        if mode != ID_LIST:
            raise ValueError(f"mode {mode} is not known")
        ours = {event_id for _, event_id in self._items[low:high]}
        theirs = [words.take(32) for _ in range(words.count(32))]
        self.missing.update((event_id.hex(), None) for event_id in theirs if event_id not in ours)
        return False

    def _split(self, out: _Writer, low: int, high: int, end: Bound) -> None:
        count = high - low
        if count < 2 * PARTS:
            out.bound(end)
            out.number(ID_LIST)
            out.number(count)
            out.bytes += b"".join(event_id for _, event_id in self._items[low:high])
            return
        for part in range(PARTS):
            start, stop = low + count * part // PARTS, low + count * (part + 1) // PARTS
            self._fingerprint(out, start, stop, end if stop == high else self._between(stop))

    def _fingerprint(self, out: _Writer, low: int, high: int, end: Bound) -> None:
        out.bound(end)
        out.number(FINGERPRINT)
        out.bytes += self._print(low, high)

    def _print(self, low: int, high: int) -> bytes:
        total = (self._sums[high] - self._sums[low]) % MODULUS
        return hashlib.sha256(total.to_bytes(32, "little") + _number(high - low)).digest()[:16]

    def _between(self, at: int) -> Bound:
        """The shortest bound that has item `at` on its right and the one before on its left."""
        (earlier, left), (later, right) = self._items[at - 1], self._items[at]
        if earlier != later:
            return later, b""
        shared = next(n for n in range(32) if left[n] != right[n])
        return later, right[: shared + 1]


class _Writer:
    def __init__(self) -> None:
        self.bytes = bytearray([VERSION])
        self._before = 0

    def message(self) -> bytes:
        return bytes(self.bytes)

    def number(self, value: int) -> None:
        self.bytes += _number(value)

    def bound(self, bound: Bound) -> None:
        """Times are told as the distance from the one before, plus one; 0 is for ever."""
        at, prefix = bound
        self.number(0 if at == FOREVER else at - self._before + 1)
        self._before = at
        self.number(len(prefix))
        self.bytes += prefix


class _Reader:
    def __init__(self, message: bytes) -> None:
        self._bytes, self._at, self._before = message, 0, 0

    def left(self) -> int:
        return len(self._bytes) - self._at

    def take(self, count: int) -> bytes:
        if count > self.left():
            raise ValueError("the message is cut short")
        self._at += count
        return self._bytes[self._at - count : self._at]

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """Base 128, the high digits first; the top bit says that more come."""
        value = 0
        for _ in range(LONGEST_NUMBER):
            digit = self.byte()
            value = (value << 7) | (digit & 0x7F)
            if digit < 0x80:
                return value
        raise ValueError("a number is too long")

    def count(self, each: int) -> int:
        if (found := self.number()) * each > self.left():
            raise ValueError("the message is cut short")
        return found

    def bound(self) -> Bound:
        told = self.number()
        at = FOREVER if told == 0 else min(self._before + told - 1, FOREVER)
        self._before = at
        if (length := self.number()) > 32:
            raise ValueError("an id is too long")
        return at, self.take(length)


def _number(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append((value & 0x7F) | 0x80)
    return bytes(reversed(digits))
