from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import GROUP, NPUB, NSEC, PUBKEY, persona, write
from uniun_bots.nostr.reference import spell_note
from uniun_bots.personas.load_manas import load_manas
from uniun_bots.personas.manas import Manas
from uniun_bots.personas.project import check_project

ADDRESS = f"30023:{PUBKEY}:tides"
NADDR = "naddr1qqzhg6tyv4esyg8tgq3qneus99jl8u8udnlmfhycpk7s3a3sff9fh8n38kld439t0upsgqqqw4rsaq7n64"
PUBLISHER = "eb402209e7902965f3f0fc6cffb4dc980dbd08f6304a4a9b9e713dbedac4ab7f"


def load(folder: Path, text: str, name: str = "life.yaml") -> Manas:
    (folder / name).write_text(text)
    reading = load_manas(folder / name)
    assert not reading.faults, reading.faults
    assert reading.value is not None
    return reading.value


def told(folder: Path, text: str, name: str = "life.yaml") -> list[str]:
    (folder / name).write_text(text)
    return [f"{f.line}:{f.column} {f.message}" for f in sorted(load_manas(folder / name).faults)]


def test_any_mix_is_read_to_one_spelling(tmp_path: Path) -> None:
    """A44"""
    write(tmp_path, lessons__a_md="x", b_md="y")
    found = load(
        tmp_path,
        f"description: My own\nnotes: [{spell_note(GROUP)}, {GROUP.upper()}]\nauthors: [{NPUB}]\n"
        f"topics: ['#Garden', low  Tide]\ngroups: [{GROUP}]\naddresses: ['{ADDRESS}', {NADDR}]\n"
        "files: [lessons, b.md]\nexclude:\n  topics: [spam]\n",
    )
    assert (found.name, found.description) == ("life", "My own")
    assert (found.notes, found.groups) == ((GROUP, GROUP), (GROUP,))
    assert (found.authors, found.topics) == ((PUBKEY,), ("garden", "low tide"))
    assert found.addresses == (ADDRESS, f"30023:{PUBLISHER}:tides")
    assert (found.files, found.exclude.topics) == (("lessons", "b.md"), ("spam",))
    assert found.is_remote and not found.is_empty


def test_a_manas_of_topics_or_files_asks_relays_for_nothing(tmp_path: Path) -> None:
    write(tmp_path, b_md="y")
    assert not load(tmp_path, "topics: [a]\nfiles: [b.md]\n").is_remote
    assert load(tmp_path, "{}").is_empty


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("author: [x]", "1:1 unknown key `author` (did you mean `authors`?)"),
        ("name: life", "1:1 unknown key `name`: the file's name is the name of the Manas"),
        ("topics: garden", "1:9 `topics` must be a list of topics: write [garden]"),
        ("topics: ['#']", "1:10 `topics` entry 1 must be a topic such as gardening"),
        (f"authors: [{PUBKEY[:-1]}]", "1:11 `authors` entry 1 is not usable:"),
        (f"notes: [{NPUB}]", "1:9 `notes` entry 1 is not usable:"),
        ("addresses: [tides]", "1:13 `addresses` entry 1 must be an address such as 30023:<public key"),
        (
            f"addresses: ['1:{PUBKEY}:x']",
            "1:13 `addresses` entry 1 has kind `1`: only long-form notes (30023:…) are kept",
        ),
        ("addresses: [naddr1qqq]", "1:13 `addresses` entry 1 is not usable: the naddr cannot be read"),
        ("files: [lesons]", "1:9 there is no `lesons` in "),
        ("files:\n  - pic.png", "2:5 `pic.png` is no markdown file: .md or .markdown are read"),
        ("exclude: {topic: [x]}", "1:11 unknown key `topic` in `exclude` (did you mean `topics`?)"),
        ("topics: [a]\nexclude: {topics: [A]}", "2:20 `a` stands in `topics` and in `exclude`: keep one"),
        (f"description: {NSEC}", "1:14 a secret key stands here"),
        ("- a", "1:1 must be a mapping"),
    ],
)
def test_a_fault_is_told_in_its_place_with_what_to_write(tmp_path: Path, text: str, fault: str) -> None:
    write(tmp_path, pic_png="")
    (found,) = told(tmp_path, text)
    assert found.startswith(fault)


def test_check_knows_the_manas_of_a_project(tmp_path: Path) -> None:
    write(
        tmp_path,
        manas__life_yaml="topics: [life]\n",
        manas__Bad_yaml="topics: [x]\n",
        manas__odd_yml="",
        manas__nothing_yaml="description: soon\n",
        personas__a_md=persona("manas: [life, lif]"),
    )
    report = check_project(tmp_path)
    found = [(str(Path(f.file).relative_to(tmp_path)), f.line, f.message) for f in report.faults]
    assert [(file, line) for file, line, _ in found] == [
        ("manas/Bad.yaml", 1),
        ("manas/odd.yml", 1),
        ("personas/a.md", 7),
    ]
    assert found[2][2] == (
        "no Manas `lif` (did you mean `life`?): write manas/lif.yaml, or use one of Bad, life, nothing"
    )
    (warning,) = report.warnings
    assert warning.message.startswith("names nothing: write `files:`")


def test_a_faulty_manas_is_one_fault_and_not_an_unknown_name_too(tmp_path: Path) -> None:
    write(tmp_path, manas__life_yaml="topix: [x]\n", personas__a_md=persona("manas: [life]"))
    (fault,) = check_project(tmp_path).faults
    assert fault.file.endswith("life.yaml")
