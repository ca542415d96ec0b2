from __future__ import annotations

import stat
from pathlib import Path

import pytest

from uniun_bots.errors import ConfigError, NotFound
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.set_model import set_model

NEW = "hf:owner/repo/new-Q4_K_M.gguf"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"model: {NEW}\n"),
        ("", f"model: {NEW}\n"),
        ("{}\n", f"model: {NEW}\n"),
        ("# mine\n{}", f"# mine\nmodel: {NEW}"),
        ("relays: local", f"relays: local\nmodel: {NEW}\n"),
        ("model: path:old.gguf\n", f"model: {NEW}\n"),
        ("pow: 1\nmodel:   path:old.gguf   # small\nmemories: off", f"pow: 1\nmodel:   {NEW}   # small\nmemories: off"),
        ("model: 'path:an old#1.gguf' # q\n", f"model: {NEW} # q\n"),
        ('model: "path:old.gguf"\n', f"model: {NEW}\n"),
        ("model: path:a b#c.gguf\n", f"model: {NEW}\n"),
        ("# model: path:old.gguf\npow: 1\n", f"# model: path:old.gguf\nmodel: {NEW}\npow: 1\n"),
        (
            "engines:\n  small:\n    type: llama\n    model: path:s.gguf\n",
            f"engines:\n  small:\n    type: llama\n    model: path:s.gguf\nmodel: {NEW}\n",
        ),
    ],
)  # fmt: skip
def test_one_line_changes_and_everything_else_stays(tmp_path: Path, before: str | None, after: str) -> None:
    path = tmp_path / "host.yaml"
    if before is not None:
        path.write_text(before)
    assert set_model(path, NEW)
    assert path.read_text() == after
    assert not set_model(path, NEW)
    assert [found.name for found in tmp_path.iterdir()] == ["host.yaml"]


@pytest.mark.parametrize("model", ["path:my models/it's #1.gguf", "path:/srv/ä.gguf"])
def test_what_needs_quotes_gets_them(tmp_path: Path, model: str) -> None:
    path = tmp_path / "host.yaml"
    assert set_model(path, model)
    reading, _ = load_settings(path)
    assert reading.value is not None and reading.value.model == model


def test_the_permissions_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "host.yaml"
    path.write_text("{}")
    path.chmod(0o640)
    set_model(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("text", "model", "told"),
    [
        ("{relays: local}\n", NEW, "write `model: hf:owner/repo/new-Q4_K_M.gguf` into it by hand"),
        ("pow: x\n", NEW, "1:6"),
        ("{}", "big", "no engine `big`"),
        ("{}", "path:model.bin", "must be path:FILE.gguf"),
        ("model:\n  path:old.gguf\n", NEW, "by hand"),
        ("model: >-\n  path:old.gguf\n", NEW, "host.yaml"),
    ],
)
def test_what_cannot_be_changed_stays_as_it_was(tmp_path: Path, text: str, model: str, told: str) -> None:
    path = tmp_path / "host.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        set_model(path, model)
    assert told in str(caught.value)
    assert f"{path}:" in str(caught.value)
    assert path.read_text() == text
    assert [found.name for found in tmp_path.iterdir()] == ["host.yaml"]


def test_what_comes_first_can_stop_the_change(tmp_path: Path) -> None:
    path = tmp_path / "host.yaml"
    path.write_text("model: path:old.gguf\n")

    def refuse() -> None:
        assert path.read_text() == "model: path:old.gguf\n"
        raise NotFound("no host")

    with pytest.raises(NotFound):
        set_model(path, NEW, refuse)
    assert path.read_text() == "model: path:old.gguf\n"
    with pytest.raises(NotFound):
        set_model(path, "path:old.gguf", refuse)
    called: list[str] = []
    assert set_model(path, NEW, lambda: called.append("first"))
    assert called == ["first"]
