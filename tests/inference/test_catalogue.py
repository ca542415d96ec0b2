from __future__ import annotations

from pathlib import Path

import pytest

from tests.inference.gguf_file import gguf
from uniun_bots.errors import ModelNotFound
from uniun_bots.inference.catalogue import Known, look, pulled, remove

GGUF = gguf()


def put(models: Path, *names: str) -> None:
    for name in names:
        (models / name).parent.mkdir(parents=True, exist_ok=True)
        (models / name).write_bytes(GGUF)


def test_what_was_pulled_is_listed_once_each(tmp_path: Path) -> None:
    put(
        tmp_path,
        "a/b/small.gguf",
        "a/b/sub/big-00001-of-00002.gguf",
        "a/b/sub/big-00002-of-00002.gguf",
        "a/b/half.gguf.abc.part",
        "a/stray.gguf",
    )
    assert list(pulled(tmp_path)) == ["hf:a/b/small.gguf", "hf:a/b/sub/big-00001-of-00002.gguf"]
    assert list(pulled(tmp_path / "nowhere")) == []


def test_a_model_is_looked_at_with_all_its_files(tmp_path: Path) -> None:
    put(tmp_path, "a/b/big-00001-of-00002.gguf", "a/b/big-00002-of-00002.gguf")
    found = look("hf:a/b/big-00001-of-00002.gguf", tmp_path, tmp_path)
    assert found == Known(
        "hf:a/b/big-00001-of-00002.gguf", tmp_path / "a/b/big-00001-of-00002.gguf", 2 * len(GGUF), ""
    )
    missing = look("path:none.gguf", tmp_path, tmp_path)
    assert (missing.path, missing.size_bytes) == (None, 0)
    assert "there is no file" in missing.fault


def test_a_file_that_is_cut_off_or_missing_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a/b/big-00001-of-00002.gguf")
    assert "lacks a part" in look("hf:a/b/big-00001-of-00002.gguf", tmp_path, tmp_path).fault
    (tmp_path / "a/b/big-00002-of-00002.gguf").write_bytes(GGUF[:-1])
    assert (
        "00002-of-00002.gguf is truncated" in look("hf:a/b/big-00001-of-00002.gguf", tmp_path, tmp_path).fault
    )


def test_removing_takes_every_file_and_what_is_half_here_and_leaves_the_rest(tmp_path: Path) -> None:
    put(
        tmp_path,
        "a/b/big-00001-of-00002.gguf",
        "a/b/big-00002-of-00002.gguf.abc.part",
        "a/c/small.gguf",
        "a/c/small.gguf.abc.part",
        "a/c/small.gguf.other.gguf",
    )
    assert remove("hf:a/b/big-00001-of-00002.gguf", tmp_path) == 2 * len(GGUF)
    assert not (tmp_path / "a" / "b").exists()
    assert remove("hf:a/c/small.gguf", tmp_path) == 2 * len(GGUF)
    assert [path.name for path in (tmp_path / "a").rglob("*.gguf")] == ["small.gguf.other.gguf"]


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("hf:a/b/none.gguf", "is not here"),
        ("path:/etc/x.gguf", "only hf: models"),
        ("hf:a/b/../../x.gguf", "only hf: models"),
    ],
)
def test_only_what_was_pulled_can_be_removed(tmp_path: Path, reference: str, told: str) -> None:
    put(tmp_path.parent, "x.gguf")
    with pytest.raises(ModelNotFound, match=told):
        remove(reference, tmp_path)
    assert (tmp_path.parent / "x.gguf").exists()
