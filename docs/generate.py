"""Write docs/reference from the code: `python -m docs.generate`.

The command line comes from the click commands, the settings from the pydantic models with their types, defaults
and docstrings. A test compares what stands there with what this gives.
"""

from __future__ import annotations

from pathlib import Path

from docs.commands import cli_page
from docs.settings import config_page

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """File name in docs/reference to its text."""
    return {"cli.md": cli_page(), "config.md": config_page()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
