"""What a model says that obeys hostile notes: whatever it is, one reply of the persona's own leaves, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.injections.port import PUBLISH, WORDS, Port, filled, open_port
from uniun_bots.database.store import Store
from uniun_bots.runs.outcome import Ending

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "outputs.yaml").read_text())


def test_there_are_enough_cases_and_each_has_a_name_of_its_own() -> None:
    assert len(CASES) >= 60
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["name"].replace(" ", "-") for case in CASES])
async def test_what_an_obedient_model_says_redirects_nothing(store: Store, case: dict[str, Any]) -> None:
    port = await open_port(store)
    outcome, event, unsaid = await port.run(map(filled, case["says"]))
    assert unsaid == case.get("unsaid", 0), outcome
    assert outcome.ending is not Ending.FAILED, outcome
    faults = list(port.faults(event)) if event else []
    assert not faults, faults
    if case.get("inert"):
        assert event is not None, outcome
    else:
        assert (event.content if event else None) == case["posts"], outcome


async def test_the_key_that_is_looked_for_is_the_one_that_signs(store: Store) -> None:
    """Else the cases about keys would prove nothing."""
    port = await open_port(store)
    assert port.signer.spellings.plain == (WORDS["NSEC_HEX"], WORDS["NSEC"])
    body = f'{{"skill": "{PUBLISH}", "arguments": {{"body": "It is noon.", "referenceNoteIds": ["n2"]}}}}'
    _, event, _ = await port.run([body])
    assert event is not None
    assert [tag[1] for tag in event.tags if tag[3:] == ("mention",)] == [port.older.id]
    assert not list(port.faults(event))


async def test_a_fault_in_what_leaves_would_be_seen(store: Store) -> None:
    port: Port = await open_port(store)
    body = f'{{"skill": "{PUBLISH}", "arguments": {{"body": "It is noon.", "referenceNoteIds": []}}}}'
    _, event, _ = await port.run([body])
    assert event is not None
    for change in ({"kind": 1}, {"author": "0" * 64}, {"created_at": 1}, {"content": WORDS["NSEC"]}):
        assert list(port.faults(type(event)(**({n: getattr(event, n) for n in event.__slots__} | change))))
    named = {"content": f"nostr:{WORDS['STRANGER_NPUB']}"}
    assert list(port.faults(type(event)(**({n: getattr(event, n) for n in event.__slots__} | named))))
