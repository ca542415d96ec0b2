"""Write a project folder to begin with."""

from __future__ import annotations

from pathlib import Path

from uniun_bots.errors import AlreadyThere, NotFound
from uniun_bots.personas.load_relay_set import bundled_folder
from uniun_bots.personas.names import files_in

TEMPLATES = Path(__file__).parent / "templates"
_FILES = {
    "host.yaml": "host.yaml",
    "personas/example.md": "example.md",
    "manas/example.yaml": "manas.yaml",
    "manas/example/first-note.md": "first-note.md",
    ".gitignore": "gitignore",
    "README.md": "README.md",
}


def new_project(folder: Path) -> list[Path]:
    """The files it wrote. Raises AlreadyThere before anything is written."""
    sources = {folder / to: TEMPLATES / name for to, name in _FILES.items()}
    sources |= {folder / "relays" / path.name: path for path in _relay_sets()}
    for path in sources:
        if path.exists() or path.is_symlink():
            raise AlreadyThere(str(path))
    for path, source in sources.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as opened:
            opened.write(source.read_text(encoding="utf-8"))
    return list(sources)


def _relay_sets() -> list[Path]:
    folder = bundled_folder("relays")
    if folder is None:
        raise NotFound("the relay sets that come with the package are missing: install it again")
    return files_in(folder, ".yaml")
