"""Small project folders for tests."""

from __future__ import annotations

from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.load_gana import load_gana

GROUP = "4b7df1c9e5b40a4e7a3b0a2f6f0d1c5a8e9d2b3c4f5061728394a5b6c7d8e9f0"
NPUB = "npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy"
PUBKEY = "6435556f51d65824aaf52cc03060a3e767b3080b37022497859c791f6e23a065"
NSEC = "nsec1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsqcvpzm"
SECRET = "6b52b64bab2c2d9c0f0814540f607980aafe91791c49dcfc9a38c10e2df17071"

GOOD = {
    "name": "Tide Teller",
    "identity": "env:TIDE_NSEC",
    "input": "{type: mentions}",
    "output": "{type: feed, reply: true}",
    "trigger": "every-message",
}


def persona(*more: str, task: str | None = "Say when the tide comes.", **changes: str | None) -> str:
    """A persona file; a key given as None is left out, `more` are further lines of frontmatter."""
    lines = [f"{key}: {value}" for key, value in (GOOD | changes).items() if value is not None]
    return "\n".join(["---", *lines, *more, "---", task or "", ""])


def write(folder: Path, **files: str | bytes) -> Path:
    """`personas__tide_md="…"` becomes personas/tide.md."""
    for name, content in files.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def load(folder: Path, text: str | bytes, name: str = "tide.md") -> tuple[Gana | None, tuple[Fault, ...]]:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    reading, _ = load_gana(path)
    return reading.value, reading.faults


def loaded(folder: Path, text: str | bytes, name: str = "tide.md") -> Gana:
    gana, faults = load(folder, text, name)
    assert not faults, faults
    assert gana is not None
    return gana


def told(folder: Path, text: str | bytes, name: str = "tide.md") -> list[str]:
    """Faults as `LINE:COLUMN message`."""
    return [f"{f.line}:{f.column} {f.message}" for f in sorted(load(folder, text, name)[1])]
