"""`notes search`: for the owner, over everything or one Manas, with a host or without one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uniun_bots.database.store import Store
from uniun_bots.graph.embeddings import any_vector
from uniun_bots.graph.manas import check_manas
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import Hit, search
from uniun_bots.graph.vectors import Vectors
from uniun_bots.host.embedders import FOLDER, make_embedder
from uniun_bots.personas.settings import HostSettings

PATIENCE_S = 30.0
"""For an embedder that is started for one question."""


async def find_notes(store: Store, vectors: Vectors | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    """`asked`: question, manas (names, or none for everything) and limit. Raises NotFound for an unknown Manas."""
    manas = tuple(asked["manas"])
    await store.read(lambda tx: check_manas(tx, manas))
    scope = Scope(manas=manas, everything=not manas)
    hits = await search(store, vectors, asked["question"], scope, int(asked["limit"]))
    fault = vectors.status().fault if vectors else ""
    return {"notes": [_as_json(hit) for hit in hits], "words_alone": fault if vectors else "no vectors"}


async def find_notes_alone(
    folder: Path, file: Path, settings: HostSettings, environ: Mapping[str, str], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Without a host: the caller holds the lease. `file`: the store."""
    async with Store(file) as store:
        embedder = None
        if await store.read(any_vector):
            embedder = await asyncio.to_thread(make_embedder, settings, folder, environ)
        if embedder is None:
            return await find_notes(store, None, asked)
        vectors = Vectors(store, embedder, file.parent / FOLDER, patience_s=PATIENCE_S)
        try:
            return await find_notes(store, vectors, asked)
        finally:
            await vectors.aclose()


def _as_json(hit: Hit) -> dict[str, Any]:
    note = hit.note
    return {
        "id": note.id,
        "author": note.author,
        "kind": note.kind,
        "created_at": note.created_at,
        "origin": note.origin,
        "text": note.text,
        "score": round(hit.score, 6),
    }
