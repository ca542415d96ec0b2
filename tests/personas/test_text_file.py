from __future__ import annotations

import os
from pathlib import Path

from tests.personas.folder import NSEC, load, persona, told
from uniun_bots.personas.text_file import LARGEST_BYTES


def test_bytes_that_are_not_utf8_are_told_with_their_place(tmp_path: Path) -> None:
    text = persona(name="Zürich").encode("latin-1")
    assert told(tmp_path, text) == ["2:8 is not UTF-8 here: save it as UTF-8"]


def test_utf16_is_named(tmp_path: Path) -> None:
    assert told(tmp_path, persona().encode("utf-16")) == ["1:1 is UTF-16: save it as UTF-8"]


def test_a_nul_is_told_with_its_place(tmp_path: Path) -> None:
    assert told(tmp_path, persona(name="a\0b")) == ["2:8 a NUL character is not allowed"]


def test_a_file_too_large_is_refused_unread(tmp_path: Path) -> None:
    assert told(tmp_path, persona(task="x" * LARGEST_BYTES))[0].startswith("1:1 too large")


def test_a_task_too_long_is_told_with_its_length(tmp_path: Path) -> None:
    assert told(tmp_path, persona(task="é" * 32_001)) == [
        "8:1 `task` has 32001 characters; at most 32000 are allowed"
    ]


def test_what_is_no_file_does_not_hang_the_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    from uniun_bots.personas.load_gana import load_gana

    for name in ("pipe.md", "folder.md", "gone.md"):
        reading, _ = load_gana(tmp_path / name)
        assert [fault.message for fault in reading.faults] == ["is not a file"]


def test_a_secret_key_anywhere_is_refused_and_never_repeated(tmp_path: Path) -> None:
    for text in (
        persona(identity=NSEC),
        persona(identity=f'"{NSEC.upper()}"'),
        persona(f"{NSEC}: 1"),
        persona(f"# my key is {NSEC}"),
        persona(task=f"Sign with {NSEC}."),
        persona(name=f"x{NSEC}"),
    ):
        _, faults = load(tmp_path, text)
        assert any("a secret key stands here" in fault.message for fault in faults)
        assert NSEC[5:25] not in str(faults).lower()


def test_a_secret_key_is_told_once_per_line(tmp_path: Path) -> None:
    (found,) = told(tmp_path, persona(identity=NSEC))
    assert found.startswith("3:11 a secret key stands here: take it out")
