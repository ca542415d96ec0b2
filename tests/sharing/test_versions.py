from __future__ import annotations

import itertools

import pytest

from uniun_bots.sharing.versions import Version, read_version

RISING = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.9",
    "1.0.10",
    "1.10.0",
    "2.0.0",
]


def test_versions_rise_as_semver_has_it() -> None:
    for lower, higher in itertools.combinations(RISING, 2):
        assert Version(lower) < Version(higher), (lower, higher)
        assert not Version(higher) < Version(lower)


@pytest.mark.parametrize("text", [*RISING, "1.0.0+build.5", "1.2.3-x-y.7+z"])
def test_versions_are_read(text: str) -> None:
    assert str(read_version(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "1.0.0.0",
        "01.0.0",
        "1.0.0-",
        "1.0.0-01",
        "1.0.0 ",
        "1.0.0\n",
        "١.٠.٠",
        "1.0.0-" + "a" * 60,
    ],
)
def test_what_is_no_version_is_none(text: str) -> None:
    assert read_version(text) is None


@pytest.mark.parametrize(
    ("text", "after"),
    [("1.0.0", "1.0.1"), ("1.2.9", "1.2.10"), ("2.0.0-rc.1", "2.0.0"), ("1.0.0+b", "1.0.1")],
)
def test_the_next_version_is_above(text: str, after: str) -> None:
    assert str(Version(text).next()) == after
    assert Version(text) < Version(text).next()
