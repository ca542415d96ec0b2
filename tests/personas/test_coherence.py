from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import GROUP, NPUB, loaded, persona, told

IN_GROUP = f"{{type: group, ref: {GROUP}}}"
SAME = "{type: group, ref: same, reply: true}"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"input": "{type: followed-note}"}, "4:8 input `followed-note` needs a `ref`: the id of the note"),
        (
            {"input": "{type: mentions}", "output": f"{{type: dm, ref: {NPUB}}}"},
            "5:16 output `dm` is not built yet in this version: use feed or group",
        ),
        (
            {"input": None, "output": "{type: feed}"},
            "5:10 `trigger: every-message` waits for messages, but there is no `input`: add",
        ),
        (
            {"trigger": "on-schedule"},
            '6:10 `trigger: on-schedule` needs a time: add `every: 1h` or `cron: "0 9 * * *"`',
        ),
        (
            {"trigger": "on-schedule", "every": "1h", "cron": '"0 9 * * *"'},
            "8:7 `every` and `cron` are both given: keep one",
        ),
        (
            {"every": "1h"},
            "7:8 `every` does nothing with `trigger: every-message`: remove it, or write",
        ),
        ({"every": "4m", "trigger": "on-schedule"}, "7:8 `every` must be between 5m and 365d, not `4m`"),
        (
            {"input": "{type: group}", "output": "{type: feed}"},
            "4:8 input `group` needs a `ref`: the id of its",
        ),
        ({"input": "{type: user}"}, "4:8 input `user` needs a `ref`: the npub of the person"),
        ({"input": f"{{type: mentions, ref: {NPUB}}}"}, "4:30 input `mentions` takes no `ref`"),
        (
            {"input": f"{{type: group, ref: {NPUB}}}", "output": "{type: feed}"},
            "4:27 `input.ref` is not usable",
        ),
        (
            {"input": f"{{type: mentions, allow: [{NPUB}], deny: [{NPUB}]}}"},
            "4:105 6435556f… stands in `allow` and in `deny`: keep one",
        ),
        (
            {"output": "{type: group, ref: same}"},
            "5:28 `ref: same` cannot lead from input `mentions` to output `group`: write the id of the group",
        ),
        (
            {"output": "{type: feed, ref: same, reply: true}"},
            "5:27 `ref: same` cannot lead from input `mentions` to output `feed`: remove it",
        ),
        ({"output": f"{{type: feed, ref: {GROUP}}}"}, "5:27 output `feed` takes no `ref`: remove it"),
        (
            {"output": "{type: group}"},
            "5:9 output `group` needs a `ref`: `same`, or the id of its kind-40 event",
        ),
        (
            {"input": IN_GROUP},
            "5:29 a feed note can answer kind-1 notes only, not input `group`: write `type: group`",
        ),
        (
            {"output": f"{{type: group, ref: {GROUP}, reply: true}}"},
            "5:101 `reply: true` in a group answers that group only",
        ),
        (
            {
                "input": f"{{type: group, ref: {'a' * 64}}}",
                "output": f"{{type: group, ref: {GROUP}, reply: true}}",
            },
            "5:101 `reply: true` in a group answers that group only",
        ),
        (
            {"trigger": "once-on-enable"},
            "5:29 `reply: true` has nothing to answer with `trigger: once-on-enable`: remove `reply`",
        ),
        (
            {"trigger": "on-schedule", "every": "1h", "input": None},
            "4:29 `reply: true` needs an `input` to answer: add one, or remove `reply`",
        ),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_write(
    tmp_path: Path, changes: dict[str, str | None], fault: str
) -> None:
    (found,) = told(tmp_path, persona(**changes))
    assert found.startswith(fault)


@pytest.mark.parametrize("kind", ["dm", "private-group"])
@pytest.mark.parametrize("output", ["{type: feed}", f"{{type: group, ref: {GROUP}}}"])
def test_private_input_never_reaches_a_public_output(tmp_path: Path, kind: str, output: str) -> None:
    found = told(tmp_path, persona(input=f"{{type: {kind}, ref: any}}", output=output))
    assert any(f"private input (`{kind}`) must not reach the public output" in line for line in found)


@pytest.mark.parametrize(
    "changes",
    [
        {"input": IN_GROUP, "output": SAME},
        {"input": IN_GROUP, "output": f"{{type: group, ref: {GROUP}, reply: true}}"},
        {"input": IN_GROUP, "output": "{type: feed}"},
        {"output": f"{{type: group, ref: {GROUP}}}"},
        {"input": f"{{type: user, ref: {NPUB}}}"},
        {"input": None, "output": "{type: feed}", "trigger": "once-on-enable"},
        {"input": None, "output": "{type: feed}", "trigger": "on-schedule", "cron": '"0 9 * * 1-5"'},
        {"trigger": "message-or-schedule", "every": "5m"},
        {"trigger": "once-on-first-message"},
    ],
)
def test_what_can_work_is_accepted(tmp_path: Path, changes: dict[str, str | None]) -> None:
    loaded(tmp_path, persona(**changes))


@pytest.mark.parametrize(
    ("cron", "fault"),
    [
        ("* * * * *", "fires more often than every 5 minutes"),
        ("0,3 9 * * *", "fires more often than every 5 minutes"),
        ("58,2 8-20 * * *", "fires more often than every 5 minutes"),
        ("0 9 * *", "must be a cron line of five fields"),
        ("0 0 9 * * *", "must be a cron line of five fields"),
        ("61 9 * * *", "must be a cron line of five fields"),
        ("@hourly", "must be a cron line of five fields"),
        ("0 0 30 2 *", "never fires"),
    ],
)
def test_a_cron_line_that_cannot_be_meant_is_refused(tmp_path: Path, cron: str, fault: str) -> None:
    (found,) = told(tmp_path, persona(f'cron: "{cron}"', trigger="message-or-schedule"))
    assert found.startswith(f"7:7 `cron` {fault}")


@pytest.mark.parametrize(
    "cron", ["*/5 * * * *", "0 9 * * *", "0 0 29 2 *", "30 8 * * mon-fri", "57,2 * * * *"]
)
def test_a_cron_line_with_room_between_firings_is_kept(tmp_path: Path, cron: str) -> None:
    assert loaded(tmp_path, persona(f'cron: "{cron}"', trigger="message-or-schedule")).cron == cron


def test_faults_of_values_and_faults_between_values_are_told_together(tmp_path: Path) -> None:
    found = told(tmp_path, persona("max_rounds: many", "colour: blue", output="{type: group}", mode="loud"))
    assert [line.split(" ")[0] for line in found] == ["5:9", "7:7", "8:13", "9:1"]


def test_nothing_is_concluded_from_a_broken_value(tmp_path: Path) -> None:
    """With its type misspelt the input is there, only not readable: no word about a missing input."""
    (found,) = told(tmp_path, persona(input="{type: mention}"))
    assert found.startswith("4:15 `input.type` must be group, mentions")
