"""The model files of a project: what is here, what is missing, what can go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import EngineError, ModelNotFound
from uniun_bots.inference.gguf import read_gguf
from uniun_bots.inference.hub import files_of
from uniun_bots.inference.model_reference import HF, find_model


@dataclass(frozen=True, slots=True)
class Known:
    reference: str
    path: Path | None
    size_bytes: int
    fault: str
    """Why it cannot be used; empty when it can."""


def look(reference: str, base: Path, models: Path) -> Known:
    try:
        files = whole_files(reference, base, models)
    except EngineError as fault:
        return Known(reference, None, 0, str(fault))
    return Known(reference, files[0], sum(part.stat().st_size for part in files), "")


def whole_files(reference: str, base: Path, models: Path) -> tuple[Path, ...]:
    """All files of a model, each as long as its header asks. Raises ModelNotFound, ModelUnusable."""
    files = tuple(_files(find_model(reference, base, models)))
    for path in files:
        if not path.is_file():
            raise ModelNotFound(f"`{reference}` lacks a part: there is no file {path}")
        read_gguf(path)
    return files


def pulled(models: Path) -> Iterator[str]:
    """References of what lies in `models`; a model in several files by its first one."""
    for path in sorted(models.glob("*/*/**/*.gguf")):
        rest = path.relative_to(models).as_posix()
        if HF.fullmatch(rest) and files_of(rest)[0] == rest:
            yield f"hf:{rest}"


def remove(reference: str, models: Path) -> int:
    """Delete what was pulled, whole or in part; returns the bytes that are free now. Raises ModelNotFound."""
    kind, _, rest = reference.partition(":")
    if kind != "hf" or not HF.fullmatch(rest):
        raise ModelNotFound(f"`{reference}` was not pulled: only hf: models are removed")
    found = [path for path in _files(models / rest) for path in _with_parts(path)]
    if not found:
        raise ModelNotFound(f"`{reference}` is not here")
    freed = sum(path.stat().st_size for path in found)
    for path in found:
        path.unlink()
    _remove_empty((models / rest).parent, models)
    return freed


def _files(path: Path) -> list[Path]:
    return [path.with_name(name) for name in files_of(path.name)]


def _with_parts(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    if path.parent.is_dir():
        yield from (near for near in path.parent.iterdir() if _is_part_of(near.name, path.name))


def _is_part_of(name: str, whole: str) -> bool:
    return name.startswith(f"{whole}.") and name.endswith(".part")


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
