from __future__ import annotations

from pathlib import Path

import pytest

from uniun_bots.errors import ConfigError
from uniun_bots.relays.fault_script import read_fault_script
from uniun_bots.relays.faults import Faults


def test_a_script_is_read(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(
        "seed: 7\nrepeat: 60s\nsteps:\n"
        "  - {at: 0s, delay: 50ms, duplicate: 0.1}\n"
        "  - {at: 10s, refuse: true}\n"
        '  - {at: 13s, refuse_events: "rate-limited: slow down"}\n'
    )
    script = read_fault_script(path)
    assert (script.seed, script.repeat) == (7, 60.0)
    assert [step.at for step in script.steps] == [0, 10, 13]
    assert script.steps[0].faults() == Faults(delay=0.05, duplicate=0.1)
    assert script.steps[1].faults() == Faults(refuse=True)


def test_a_script_without_a_seed_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("steps: [{at: 0s}]\n")
    assert read_fault_script(path).seed >= 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("steps: [{at: 0s, dely: 5s}]", "did you mean `delay`"),
        ("steps: [{delay: 5s}]", "at: 0s"),
        ("seed: 1", "steps"),
        ("steps: [{at: 5s}, {at: 1s}]", "in the order"),
        ("steps: [{at: 5s}]\nrepeat: 2s", "later than the last step"),
        ("steps: [{at: 0s, duplicate: 2}]", "between 0 and 1"),
    ],
)
def test_a_wrong_script_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_fault_script(path)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{path}:")
