from __future__ import annotations

from pathlib import Path

from tests.factory import gana
from tests.skills.samples import library, skill_file
from uniun_bots.context.task import task_with
from uniun_bots.skills.registry import register


def test_each_attached_skill_is_a_block_of_its_own_in_the_order_of_the_file(tmp_path: Path) -> None:
    own = library(
        tmp_path, facts=skill_file("facts", body="One.\n\nTwo."), tone=skill_file("tone", body="Kind.")
    )
    texts = register(gana(skills=["tone", "facts"]), own).texts
    assert task_with("Answer.", texts) == "Answer.\n\ntone:\nKind.\n\nfacts:\nOne.\n\nTwo."


def test_without_skills_the_task_is_as_it_was() -> None:
    assert task_with("Answer.", ()) == "Answer."
