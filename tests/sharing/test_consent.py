"""A yes is a person's, or a script's that names exactly these bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.skills.samples import skill_file
from uniun_bots.errors import NotAccepted
from uniun_bots.sharing.consent import ask_consent
from uniun_bots.sharing.preview import preview

SHOWN = preview(skill_file("tide-table", body="See https://x.example/a"), "tide-table")


@dataclass
class Person:
    answer: bool
    asked: list[str] = field(default_factory=list)

    def confirm(self, question: str) -> bool:
        self.asked.append(question)
        return self.answer


@pytest.mark.parametrize("answer", [True, False])
def test_a_person_is_asked_and_answers(answer: bool) -> None:
    person = Person(answer)
    assert ask_consent(SHOWN, None, person) is answer
    assert person.asked == ["Install this skill with 1 warning?"]


def test_where_nobody_sits_nothing_is_accepted() -> None:
    with pytest.raises(NotAccepted, match=f"--accept {SHOWN.spelled_hash}"):
        ask_consent(SHOWN, None, None)


@pytest.mark.parametrize("terminal", [None, Person(False)])
def test_the_hash_of_these_bytes_is_a_yes(terminal: Person | None) -> None:
    assert ask_consent(SHOWN, SHOWN.spelled_hash, terminal)


@pytest.mark.parametrize("terminal", [None, Person(True)])
@pytest.mark.parametrize(
    ("accept", "told"),
    [
        (preview("other", "x").spelled_hash, "names other bytes"),
        (SHOWN.hash, "takes `sha256:`"),
        (SHOWN.spelled_hash.upper(), "takes `sha256:`"),
        (SHOWN.spelled_hash + "\n", "takes `sha256:`"),
        ("sha256:", "takes `sha256:`"),
        ("", "takes `sha256:`"),
        ("yes", "takes `sha256:`"),
    ],
)
def test_anything_else_is_a_no_even_beside_a_person(accept: str, told: str, terminal: Person | None) -> None:
    with pytest.raises(NotAccepted, match=told):
        ask_consent(SHOWN, accept, terminal)
