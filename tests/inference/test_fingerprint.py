from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.inference.hub_stand_in import model_bytes
from uniun_bots.errors import ModelNotFound
from uniun_bots.inference.fingerprint import HEAD_BYTES, fingerprint_of_file, fingerprint_of_server


def of(path: Path) -> str:
    return fingerprint_of_file(f"path:{path}", Path(), Path()).key


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.gguf"
    path.write_bytes(model_bytes() + bytes(range(256)) * (3 * HEAD_BYTES // 256))
    return path


def test_a_model_is_the_same_wherever_it_lies(file: Path, tmp_path: Path) -> None:
    assert of(Path(shutil.copy(file, tmp_path / "b.gguf"))) == of(file)


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9])
def test_other_weights_under_the_same_name_are_another_model(file: Path, place: float) -> None:
    before, content = of(file), bytearray(file.read_bytes())
    at = 100 + int(place * (len(content) - 200_000))
    content[at : at + 100_000] = bytes(100_000)
    file.write_bytes(content)
    assert of(file) != before


def test_a_longer_file_is_another_model(file: Path) -> None:
    before = of(file)
    file.write_bytes(file.read_bytes() + b"\0")
    assert of(file) != before


def test_a_model_in_several_files_is_all_of_them(tmp_path: Path) -> None:
    first, second = (tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2))
    first.write_bytes(model_bytes())
    second.write_bytes(model_bytes())
    before = of(first)
    second.write_bytes(model_bytes()[:-1] + b"\1")
    assert of(first) != before


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        of(tmp_path / "none.gguf")


def test_a_server_is_its_address_its_model_and_how_it_is_told_of_schemas() -> None:
    url = "http://127.0.0.1:8000/v1"
    known = {
        fingerprint_of_server(*given).key
        for given in (
            (url, "a", "json_schema"),
            (url, "b", "json_schema"),
            (url, None, "json_schema"),
            (url, "a", "none"),
            ("http://127.0.0.1:8001/v1", "a", "json_schema"),
        )
    }
    assert len(known) == 5
