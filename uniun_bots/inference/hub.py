"""Models from the Hugging Face Hub, kept as files under their own names: `models/OWNER/REPO/FILE.gguf`.

What did not arrive whole stays beside it as a `.part` file, and the next pull goes on from there.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast
from urllib.parse import urlsplit

from uniun_bots.errors import DownloadFailed, ModelNotFound, ModelUnusable
from uniun_bots.inference.model_reference import HF, find_model

Tell = Callable[[str, int, int | None], None]
"""(file, bytes that are here, bytes in all)"""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_SHA1 = re.compile(r"[0-9a-f]{40}")
_ONE_OF_MANY = re.compile(r"(.+)-\d{5}-of-(\d{5})\.gguf")
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Pulled:
    path: Path
    """Of the first file, when the model has several."""
    size_bytes: int
    was_here: bool
    is_checked: bool
    """False when the server tells no checksum."""


@dataclass(frozen=True, slots=True)
class _Remote:
    repo: str
    file: str
    url: str
    checksum: str
    size_bytes: int | None
    headers: dict[str, str]


def files_of(rest: str) -> list[str]:
    """`rest` of an `hf:` reference; a model in several files is named by one of them."""
    if not (found := _ONE_OF_MANY.fullmatch(rest)):
        return [rest]
    return [f"{found[1]}-{number:05}-of-{found[2]}.gguf" for number in range(1, int(found[2]) + 1)]


def pull(reference: str, models: Path, tell: Tell, endpoint: str | None = None) -> Pulled:
    """Download what is not here yet, and check it. `endpoint` stands for https://huggingface.co.

    Raises ModelNotFound, ModelUnusable, DownloadFailed.
    """
    kind, _, rest = reference.partition(":")
    if kind != "hf" or not HF.fullmatch(rest):
        raise ModelNotFound(f"`{reference}` cannot be pulled: write `hf:OWNER/REPO/FILE.gguf`")
    found = [_pull_one(file, models, tell, endpoint) for file in files_of(rest)]
    path = models / rest
    try:
        find_model(reference, models, models)
    except ModelUnusable:
        path.unlink()
        raise
    return Pulled(
        path,
        sum(one.size_bytes for one in found),
        all(one.was_here for one in found),
        all(one.is_checked for one in found),
    )


def _pull_one(rest: str, models: Path, tell: Tell, endpoint: str | None) -> Pulled:
    owner, repo, file = rest.split("/", 2)
    remote = _ask(f"{owner}/{repo}", file, endpoint)
    path = models / rest
    checked = bool(_SHA256.fullmatch(remote.checksum) or _GIT_SHA1.fullmatch(remote.checksum))
    if checked and path.is_file() and _checksum(path, remote.checksum) == remote.checksum:
        return Pulled(path, path.stat().st_size, True, True)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Named by what is to be in it: a new version of the file does not go on from an old one.
    part = path.with_name(f"{path.name}.{remote.checksum[:12]}.part")
    _fetch(remote, part, tell)
    if checked and (got := _checksum(part, remote.checksum)) != remote.checksum:
        part.unlink()
        told = f"{path.name} arrived damaged: its checksum is {got}, the server says {remote.checksum}"
        raise ModelUnusable(f"{told}; it was deleted, pull it again")
    os.replace(part, path)
    for older in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        older.unlink()
    return Pulled(path, path.stat().st_size, False, checked)


def _ask(repo: str, file: str, endpoint: str | None) -> _Remote:
    from huggingface_hub import file_download
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url = file_download.hf_hub_url(repo, file, endpoint=endpoint)
    try:
        found = file_download.get_hf_file_metadata(url, endpoint=endpoint)
    except Exception as fault:
        _refuse(fault, repo, file, endpoint)
    headers = build_hf_headers()
    if urlsplit(found.location).netloc != urlsplit(url).netloc:
        # A store of files elsewhere, with its right to read in the address.
        headers.pop("authorization", None)
    checksum = re.sub(r"[^\w-]", "", found.etag or "") or "unknown"
    return _Remote(repo, file, found.location, checksum, found.size, headers)


def _fetch(remote: _Remote, part: Path, tell: Tell) -> None:
    from huggingface_hub.file_download import http_get

    here = part.stat().st_size if part.is_file() else 0
    if remote.size_bytes is not None and here > remote.size_bytes:
        part.unlink()
        here = 0
    try:
        with part.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            http_get(
                remote.url,
                file,
                resume_size=here,
                headers=remote.headers,
                expected_size=remote.size_bytes,
                tqdm_class=cast(Any, _bar(remote.file, tell)),
            )
            file.flush()
            os.fsync(file.fileno())
    except BlockingIOError as taken:
        raise DownloadFailed(f"{remote.file} is being pulled already, by another command") from taken
    except Exception as fault:
        why = " ".join(str(fault).split()) or type(fault).__name__
        told = f"{remote.file} did not arrive: {why[:200]}"
        raise DownloadFailed(f"{told}; what came is kept, `model pull` goes on from there") from fault


def _bar(file: str, tell: Tell) -> type:
    """What the library takes for a progress bar."""

    class Bar:
        def __init__(self, total: int | None = None, initial: int = 0, **others: object) -> None:
            self._here, self._total = initial, total
            tell(file, initial, total)

        def update(self, more: int) -> None:
            self._here += more
            tell(file, self._here, self._total)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *raised: object) -> None:
            tell(file, self._here, self._total)

    return Bar


def _checksum(path: Path, like: str) -> str:
    """Large files go by their SHA-256, the others by the name git has for them."""
    digest = hashlib.sha256() if _SHA256.fullmatch(like) else hashlib.sha1(usedforsecurity=False)
    if digest.name == "sha1":
        digest.update(f"blob {path.stat().st_size}\0".encode())
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _refuse(fault: Exception, repo: str, file: str, endpoint: str | None) -> NoReturn:
    from huggingface_hub import errors

    if isinstance(fault, errors.GatedRepoError):
        told = f"{repo} wants its terms accepted on its page first, and a token in HF_TOKEN"
        raise ModelNotFound(told) from fault
    if isinstance(fault, errors.RepositoryNotFoundError):
        told = f"there is no repository {repo}, or it is private and needs a token in HF_TOKEN"
        raise ModelNotFound(told) from fault
    if isinstance(fault, errors.EntryNotFoundError):
        has = ", ".join(_models_in(repo, endpoint))
        raise ModelNotFound(f"{repo} has no file {file}{f'; it has {has}' if has else ''}") from fault
    why = " ".join(str(fault).split()) or type(fault).__name__
    raise DownloadFailed(f"{repo} cannot be asked: {why[:200]}") from fault


def _models_in(repo: str, endpoint: str | None) -> list[str]:
    from huggingface_hub import HfApi

    try:
        return [name for name in HfApi(endpoint=endpoint).list_repo_files(repo) if name.endswith(".gguf")]
    except Exception:
        # It is only a hint.
        return []
