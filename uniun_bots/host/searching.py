"""`notes search`: for the owner, over everything or one Manas, with a host or without one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uniun_bots.database.store import Store
from uniun_bots.graph.embeddings import any_vector
from uniun_bots.graph.label import name_of
from uniun_bots.graph.manas import check_manas
from uniun_bots.graph.profiles import names_of
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import Hit, search
from uniun_bots.graph.vectors import Vectors
from uniun_bots.host.embedders import make_embedder
from uniun_bots.personas.settings import NO_EMBEDDER, HostSettings

PATIENCE_S = 30.0
"""For an embedder that is started for one question."""
SWITCHED_OFF = f"host.yaml says `embedder: {NO_EMBEDDER}`"
NONE_YET = "no note has a vector yet: `uniun-bots run` makes them"


async def find_notes(
    store: Store, vectors: Vectors | None, asked: Mapping[str, Any], no_vectors: str = SWITCHED_OFF
) -> dict[str, Any]:
    """`asked`: question, manas (names, or none for everything) and limit. Raises NotFound for an unknown Manas."""
    manas = tuple(asked["manas"])
    await store.read(lambda tx: check_manas(tx, manas))
    scope = Scope(manas=manas, everything=not manas)
    hits = await search(store, vectors, asked["question"], scope, int(asked["limit"]))
    names = await store.read(lambda tx: names_of(tx, {hit.note.author for hit in hits}))
    fault = vectors.status().fault if vectors else no_vectors
    return {"notes": [_as_json(hit, names) for hit in hits], "words_alone": fault}


async def find_notes_alone(
    folder: Path, file: Path, settings: HostSettings, environ: Mapping[str, str], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Without a host: the caller holds the lease. `file`: the store."""
    async with Store(file) as store:
        embedder = None
        if await store.read(any_vector):
            embedder = await asyncio.to_thread(make_embedder, settings, folder, environ)
        if embedder is None:
            why = SWITCHED_OFF if settings.embedder == NO_EMBEDDER else NONE_YET
            return await find_notes(store, None, asked, why)
        vectors = Vectors(store, embedder, patience_s=PATIENCE_S)
        try:
            return await find_notes(store, vectors, asked)
        finally:
            await vectors.aclose()


def _as_json(hit: Hit, names: Mapping[str, str]) -> dict[str, Any]:
    note = hit.note
    return {
        "id": note.id,
        "author": note.author,
        "by": name_of(note.author, names),
        "kind": note.kind,
        "created_at": note.created_at,
        "origin": note.origin,
        "text": note.text,
        "score": round(hit.score, 6),
    }
