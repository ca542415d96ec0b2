"""Pulling models from a hub that breaks off, lies, and moves on."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.inference.hub_stand_in import Hub, hub_stand_in, model_bytes
from uniun_bots.errors import DownloadFailed, ModelNotFound, ModelUnusable
from uniun_bots.inference.hub import Pulled, pull

REFERENCE = "hf:owner/repo/small.gguf"
NAME = "owner/repo/small.gguf"
CHUNK = 4096


@pytest.fixture
async def hub(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", CHUNK)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    async with hub_stand_in() as opened:
        opened.files[NAME] = model_bytes()
        yield opened


class Stopped(BaseException):
    """Like Ctrl-C."""


class Teller:
    def __init__(self, stop_at: int | None = None) -> None:
        self.told: list[tuple[str, int, int | None]] = []
        self._stop_at = stop_at

    def __call__(self, file: str, here: int, total: int | None) -> None:
        self.told.append((file, here, total))
        if self._stop_at is not None and here >= self._stop_at:
            self._stop_at = None
            raise Stopped


async def pulled(hub: Hub, models: Path, reference: str = REFERENCE, tell: Teller | None = None) -> Pulled:
    return await asyncio.to_thread(pull, reference, models, tell or Teller(), hub.url)


def parts(models: Path) -> list[Path]:
    return sorted(models.rglob("*.part"))


def names(models: Path) -> list[str]:
    """Of all files that are there."""
    return sorted(path.name for path in models.rglob("*") if path.is_file())


async def test_a_model_is_pulled_under_its_own_name_with_progress(hub: Hub, tmp_path: Path) -> None:
    tell = Teller()
    found = await pulled(hub, tmp_path, tell=tell)
    assert found == Pulled(tmp_path / NAME, 60_000, was_here=False, is_checked=True)
    assert found.path.read_bytes() == hub.files[NAME]
    assert tell.told[0] == ("small.gguf", 0, 60_000)
    assert tell.told[-1] == ("small.gguf", 60_000, 60_000)
    assert parts(tmp_path) == []


async def test_what_is_here_is_not_pulled_again(hub: Hub, tmp_path: Path) -> None:
    await pulled(hub, tmp_path)
    assert (await pulled(hub, tmp_path)).was_here
    assert len(hub.ranges) == 1


async def test_a_download_that_was_stopped_goes_on_from_there(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        await pulled(hub, tmp_path, tell=Teller(stop_at=20_000))
    (part,) = parts(tmp_path)
    here = part.stat().st_size
    assert 0 < here < 60_000
    assert not (tmp_path / NAME).exists()
    tell = Teller()
    await pulled(hub, tmp_path, tell=tell)
    assert (tmp_path / NAME).read_bytes() == hub.files[NAME]
    assert hub.ranges == [None, f"bytes={here}-"]
    assert tell.told[0][1] == here


async def test_a_connection_that_breaks_is_taken_up_in_the_same_pull(hub: Hub, tmp_path: Path) -> None:
    hub.breaks_after = 30_000
    await pulled(hub, tmp_path)
    assert (tmp_path / NAME).read_bytes() == hub.files[NAME]
    assert len(hub.ranges) == 2 and hub.ranges[1]


async def test_a_server_that_knows_no_ranges_sends_it_all_again(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        await pulled(hub, tmp_path, tell=Teller(stop_at=20_000))
    hub.knows_ranges = False
    await pulled(hub, tmp_path)
    assert (tmp_path / NAME).read_bytes() == hub.files[NAME]


async def test_a_file_that_arrives_damaged_is_deleted_and_told(hub: Hub, tmp_path: Path) -> None:
    hub.checksums[NAME] = "0" * 64
    with pytest.raises(ModelUnusable, match="arrived damaged"):
        await pulled(hub, tmp_path)
    assert names(tmp_path) == []
    del hub.checksums[NAME]
    assert (await pulled(hub, tmp_path)).path.exists()


async def test_a_damaged_beginning_is_not_kept_for_ever(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        await pulled(hub, tmp_path, tell=Teller(stop_at=20_000))
    (part,) = parts(tmp_path)
    part.write_bytes(b"x" * part.stat().st_size)
    with pytest.raises(ModelUnusable):
        await pulled(hub, tmp_path)
    assert (await pulled(hub, tmp_path)).path.read_bytes() == hub.files[NAME]


async def test_a_new_version_replaces_the_old_one_and_does_not_go_on_from_it(
    hub: Hub, tmp_path: Path
) -> None:
    await pulled(hub, tmp_path)
    with pytest.raises(Stopped):
        hub.files[NAME] = model_bytes(seed=2)
        await pulled(hub, tmp_path, tell=Teller(stop_at=20_000))
    assert (tmp_path / NAME).read_bytes() == model_bytes()
    hub.files[NAME] = model_bytes(50_000, seed=3)
    await pulled(hub, tmp_path)
    assert (tmp_path / NAME).read_bytes() == hub.files[NAME]
    assert names(tmp_path) == ["small.gguf"]


async def test_two_pulls_of_one_file_do_not_mix(hub: Hub, tmp_path: Path) -> None:
    def second(file: str, here: int, total: int | None) -> None:
        if here:
            with pytest.raises(DownloadFailed, match="is being pulled already"):
                pull(REFERENCE, tmp_path, Teller(), hub.url)

    await asyncio.to_thread(pull, REFERENCE, tmp_path, second, hub.url)
    assert (tmp_path / NAME).read_bytes() == hub.files[NAME]


async def test_a_small_file_is_checked_by_its_git_name(hub: Hub, tmp_path: Path) -> None:
    content = hub.files[NAME]
    git = hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
    hub.checksums[NAME] = git
    assert (await pulled(hub, tmp_path)).is_checked
    hub.checksums[NAME] = "0" * 40
    with pytest.raises(ModelUnusable, match="arrived damaged"):
        await pulled(hub, tmp_path)


async def test_where_no_checksum_is_told_that_is_said(hub: Hub, tmp_path: Path) -> None:
    hub.checksums[NAME] = "../../odd"
    found = await pulled(hub, tmp_path)
    assert not found.is_checked
    assert found.path.read_bytes() == hub.files[NAME]


async def test_all_files_of_a_model_in_several_are_pulled(hub: Hub, tmp_path: Path) -> None:
    many = [f"big-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    for number, name in enumerate(many):
        hub.files[f"owner/repo/sub/{name}"] = model_bytes(9000, seed=number)
    found = await pulled(hub, tmp_path, f"hf:owner/repo/sub/{many[0]}")
    assert found.size_bytes == 27_000
    assert names(tmp_path) == many


async def test_a_page_instead_of_a_model_is_not_kept(hub: Hub, tmp_path: Path) -> None:
    hub.files[NAME] = b"<html>not a model</html>" * 10
    with pytest.raises(ModelUnusable, match="not a GGUF"):
        await pulled(hub, tmp_path)
    assert not (tmp_path / NAME).exists()


async def test_what_is_not_there_is_told_with_what_is(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"has no file big\.gguf; it has small\.gguf"):
        await pulled(hub, tmp_path, "hf:owner/repo/big.gguf")
    with pytest.raises(ModelNotFound, match="there is no repository owner/other"):
        await pulled(hub, tmp_path, "hf:owner/other/big.gguf")
    hub.gated.add("owner/repo")
    with pytest.raises(ModelNotFound, match="wants its terms accepted"):
        await pulled(hub, tmp_path)


async def test_a_hub_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match="owner/repo cannot be asked"):
        await asyncio.to_thread(pull, REFERENCE, tmp_path, Teller(), "http://127.0.0.1:9")


@pytest.mark.parametrize("reference", ["path:x.gguf", "hf:owner/x.gguf", "hf:owner/repo/../x.gguf", "small"])
async def test_only_what_lies_on_a_hub_can_be_pulled(tmp_path: Path, reference: str) -> None:
    with pytest.raises(ModelNotFound, match="write `hf:OWNER/REPO"):
        await asyncio.to_thread(pull, reference, tmp_path, Teller())


async def test_the_token_goes_to_the_hub_and_not_to_its_store_of_files(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    await pulled(hub, tmp_path)
    assert hub.tokens == ["Bearer hf_secret", None]
