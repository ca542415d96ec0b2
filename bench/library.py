"""Stores of notes and vectors for the benchmarks of search, the same in every run."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from itertools import accumulate

from uniun_bots.database.store import Store
from uniun_bots.graph.embeddings import put, queue, register
from uniun_bots.graph.keep import keep
from uniun_bots.inference.embed.embedder import Embedder
from uniun_bots.nostr.event import Event
from uniun_bots.relays.heard import Heard

AT = 1_750_000_000
BATCH = 500


def note_of(number: int, text: str, author: str = "bench", tags: Sequence[Sequence[str]] = ()) -> Event:
    """As if it had been heard; the signature is nobody's business here."""
    key = hashlib.sha256(author.encode()).hexdigest()
    note_id = hashlib.sha256(f"{number} {author}".encode()).hexdigest()
    fields = {"id": note_id, "pubkey": key, "created_at": AT + number, "kind": 1, "tags": list(tags)}
    raw = json.dumps(fields | {"content": text, "sig": "0" * 128}).encode()
    return Event(note_id, key, AT + number, 1, tuple(map(tuple, tags)), text, raw)


async def keep_all(store: Store, events: Iterable[Event]) -> None:
    batch: list[Heard] = []
    for event in events:
        batch.append(Heard(event, "", AT))
        if len(batch) == BATCH:
            await store.write(lambda tx, batch=tuple(batch): keep(tx, batch))  # type: ignore[misc]
            batch.clear()
    await store.write(lambda tx: keep(tx, batch))


async def embed_all(store: Store, embedder: Embedder, portion: int = 16) -> int:
    """As a host does it in the background; returns how many were embedded."""
    info = await embedder.load()
    known = await store.write(lambda tx: register(tx, info))
    done = 0
    while True:
        found = await store.read(lambda tx: queue(tx, known.id, portion))
        vectors = await embedder.embed([one.text for one in found.waiting])
        pairs = list(zip(found.waiting, vectors, strict=True))
        await store.write(lambda tx: put(tx, known.id, found, pairs))  # noqa: B023
        done += len(pairs)
        if not pairs and not found.more:
            return done


class Wordy:
    """Texts whose words are as unevenly common as in any language (Zipf)."""

    def __init__(self, seed: int, words: int = 30_000) -> None:
        self._chance = random.Random(seed)
        self._words = [_spell(number) for number in range(words)]
        self._sums = list(accumulate(1.0 / (rank + 3) for rank in range(words)))

    def texts(self, count: int, length: int = 20) -> Iterable[str]:
        for _ in range(count):
            yield " ".join(self._chance.choices(self._words, cum_weights=self._sums, k=length))

    def question(self) -> str:
        """Two everyday words and three that are rarer."""
        common = self._chance.sample(self._words[:20], 2)
        return " ".join(common + self._chance.sample(self._words[50:5_000], 3))


def _spell(number: int) -> str:
    """Pronounceable, and different for each number."""
    parts = []
    number += 20
    while number:
        number, rest = divmod(number, 100)
        parts.append("bdfghklmnprstvwz"[rest % 16] + "aeiou"[rest // 20])
        parts.append("xyjcq"[rest // 16 % 5] if rest >= 80 else "")
    return "".join(parts)
