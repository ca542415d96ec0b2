from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.plays import small
from uniun_bots.inference.fingerprint import Fingerprint
from uniun_bots.personas.settings import ProbeSettings
from uniun_bots.probe.probes import Probe
from uniun_bots.probe.rates import always_silent, rates
from uniun_bots.probe.trust import Trust, verdict


def probe(folder: Path, *missing: str) -> Probe:
    """Of a model that never says anything: its score is 0.5."""
    file = small(folder)
    plays = tuple(one for one in always_silent(file) if one.situation not in missing)
    return Probe(Fingerprint("k", "path:m.gguf"), 0.0, plays, rates(file, plays), missing, 0)


@pytest.mark.parametrize(
    ("settings", "trust"),
    [
        (ProbeSettings(), Trust.LOW),
        (ProbeSettings(warn_below=0.5), Trust.ENOUGH),
        (ProbeSettings(warn_below=0.51), Trust.LOW),
        (ProbeSettings(refuse_below=0.5), Trust.LOW),
        (ProbeSettings(refuse_below=0.6), Trust.REFUSED),
        (ProbeSettings(warn_below=0, refuse_below=0), Trust.ENOUGH),
    ],
)
def test_the_score_is_held_against_both_settings(
    tmp_path: Path, settings: ProbeSettings, trust: Trust
) -> None:
    found = verdict(probe(tmp_path), "path:m.gguf", settings)
    assert (found.trust, found.score) == (trust, 0.5)


def test_what_is_too_low_is_told_with_the_setting(tmp_path: Path) -> None:
    told = verdict(probe(tmp_path), "path:m.gguf", ProbeSettings()).told
    assert told.startswith("its model came to a score of 0.50, and `probe.warn_below` of host.yaml is 0.7")


def test_what_was_never_measured_is_told_with_the_command() -> None:
    found = verdict(None, "path:m.gguf", ProbeSettings(refuse_below=0.7))
    assert (found.trust, found.score) == (Trust.UNKNOWN, None)
    assert "not measured: `uniun-bots model probe path:m.gguf`" in found.told


def test_half_a_measurement_is_none(tmp_path: Path) -> None:
    found = verdict(probe(tmp_path, "order"), "big", ProbeSettings(refuse_below=0.7))
    assert found.trust is Trust.UNKNOWN
    assert "in part (2 of 3 situations): `uniun-bots model probe big` goes on" in found.told
