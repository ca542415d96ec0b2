from __future__ import annotations

import re
from pathlib import Path

import pytest

from uniun_bots.errors import AlreadyThere
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.new_project import new_project
from uniun_bots.personas.project import check_project, load_project
from uniun_bots.personas.settings import HostSettings


def test_a_new_project_is_sound_and_has_one_persona_that_is_off(tmp_path: Path) -> None:
    new_project(tmp_path / "bots")
    project = load_project(tmp_path / "bots")
    assert [(gana.id, str(gana.mode)) for gana in project.ganas] == [("example", "off")]
    assert project.settings == HostSettings()
    assert {"local", "public"} <= set(project.relay_sets)
    assert (tmp_path / "bots/.gitignore").read_text().endswith("data/\n")


def test_every_key_in_a_comment_can_be_uncommented(tmp_path: Path) -> None:
    """A comment that shows a key is `#key`; prose is `# text`."""
    new_project(tmp_path)
    for name in ("host.yaml", "personas/example.md", "manas/example.yaml"):
        path = tmp_path / name
        text = re.sub(r"^( *)#(?=\S)", r"\1", path.read_text(), flags=re.MULTILINE)
        path.write_text(re.sub(r"^#(?=  )", "", text, flags=re.MULTILINE))
    (both,) = check_project(tmp_path).faults
    assert both.message.startswith("a webhook cannot be reached through `proxy`")
    settings = tmp_path / "host.yaml"
    settings.write_text(re.sub(r"^proxy: .*$", "", settings.read_text(), flags=re.MULTILINE))
    assert check_project(tmp_path).faults == ()
    project = load_project(tmp_path)
    assert set(HostSettings.model_fields) - project.settings.model_fields_set == {"proxy"}
    (gana,) = project.ganas
    assert set(Gana.model_fields) - gana.model_fields_set == {"every_s", "cron", "webhook"}


def test_nothing_is_written_where_something_would_be_overwritten(tmp_path: Path) -> None:
    (tmp_path / "relays").mkdir()
    (tmp_path / "relays/public.yaml").write_text("mine")
    with pytest.raises(AlreadyThere, match="public.yaml"):
        new_project(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["public.yaml", "relays"]
    assert (tmp_path / "relays/public.yaml").read_text() == "mine"


def test_other_files_in_the_folder_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    new_project(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
