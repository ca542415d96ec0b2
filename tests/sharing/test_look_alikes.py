"""Letters that pass for others are marked in names; names in their own script are not."""

from __future__ import annotations

import pytest

from uniun_bots.sharing.look_alikes import look_alikes, marked_name


@pytest.mark.parametrize(
    "name",
    [
        *("tide-table", "José", "Zoë", "Işık", "Łukasz", "Анна", "Сара Иванова", "Рыба с рисом", "Γιάννης"),
        *(
            "سارا",
            "محمد علی",
            "שרה",
            "دستیار API",
            "الAPI",
            "潮汐表",
            "タイド",
            "조석",
            "ज्वार",
            "Hậu \U0001f30a",
        ),
    ],
)
def test_an_honest_name_passes_unmarked(name: str) -> None:
    assert look_alikes(name) == {}
    assert marked_name(name) == name


@pytest.mark.parametrize(
    ("name", "passes_for"),
    [
        ("t\u0456de-table", {1: "i"}),
        ("p\u0430ypal", {1: "a"}),
        ("\u0455\u0441\u043e\u0440\u0435", {0: "s", 1: "c", 2: "o", 3: "p", 4: "e"}),
        ("\u0391dmin", {0: "A"}),
        ("t\u0585m", {1: "o"}),
        ("\uff54ide", {0: "t"}),
        ("\U0001d5fd\U0001d5ee\U0001d606", {0: "p", 1: "a", 2: "y"}),
        ("m\u2113k", {1: "l"}),
    ],
)
def test_letters_that_pass_for_others_are_found(name: str, passes_for: dict[int, str]) -> None:
    assert look_alikes(name) == passes_for


def test_they_are_marked_with_their_names_beside_what_hides() -> None:
    assert marked_name("p\u0430y\u200b") == "p\u0430⟦CYRILLIC SMALL LETTER A⟧y⟦U+200B ZERO WIDTH SPACE⟧"
