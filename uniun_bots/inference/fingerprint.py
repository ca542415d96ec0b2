"""Which model it is: the same for the same weights wherever they lie, another for other weights under the same name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from uniun_bots.inference.hub import files_of
from uniun_bots.inference.model_reference import find_model

HEAD_BYTES = 1 << 20
SLICES = 64
SLICE_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Fingerprint:
    key: str
    reference: str
    """As people name it."""
    facts: Mapping[str, str | int] = field(default_factory=dict)


def fingerprint_of_file(reference: str, base: Path, models: Path) -> Fingerprint:
    """Reads a few megabytes, whatever its size. Raises ModelNotFound, ModelUnusable."""
    path = find_model(reference, base, models)
    parts = [part for name in files_of(path.name) if (part := path.with_name(name)).is_file()]
    size_bytes = sum(part.stat().st_size for part in parts)
    digest = hashlib.sha256()
    for part in parts:
        _take_in(part, digest)
    key = f"gguf:{size_bytes}:{digest.hexdigest()}"
    facts: dict[str, str | int] = {
        "path": str(path),
        "size_bytes": size_bytes,
        "sha256_of_samples": digest.hexdigest(),
    }
    return Fingerprint(key, reference, facts)


def fingerprint_of_server(base_url: str, model: str | None, dialect: str) -> Fingerprint:
    """How the server is told of a schema belongs to it: what a model may write depends on that."""
    facts: dict[str, str | int] = {"base_url": base_url, "model": model or "", "json": dialect}
    return Fingerprint(
        f"openai:{json.dumps(facts, sort_keys=True)}", f"{base_url} {model or ''}".strip(), facts
    )


def fingerprint_of_script(name: str) -> Fingerprint:
    return Fingerprint(f"scripted:{name}", f"scripted:{name}")


def _take_in(path: Path, digest: hashlib._Hash) -> None:
    """The beginning, where the header is, and slices all over the weights: all of a large file takes minutes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        digest.update(file.read(HEAD_BYTES))
        for number in range(1, SLICES + 1):
            file.seek(max(0, size * number // SLICES - SLICE_BYTES))
            digest.update(file.read(SLICE_BYTES))
