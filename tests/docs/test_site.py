from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.docs.pages import DOCS, ROOT, read


# Not with --quiet: it hides warnings from --strict too.
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert not list((tmp_path / "site").rglob("*.py"))
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).with_suffix("")
        folder = name.parent if name.name == "index" else name
        assert (tmp_path / "site" / folder / "index.html").is_file()


def test_make_check_builds_the_site_in_a_way_that_warnings_stop() -> None:
    builds = [line for line in read(ROOT / "Makefile").splitlines() if "mkdocs build" in line]
    assert len(builds) == 2
    assert all("--strict" in line and "--quiet" not in line for line in builds)
