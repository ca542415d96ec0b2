"""The trace of a run: one row for each round."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from uniun_bots.context.quote import cut
from uniun_bots.runs.outcome import Step

PREVIEW_CHARS = 600
"""Of arguments and results; what the model wrote is kept whole."""


def write_steps(tx: sqlite3.Connection, run: int, steps: Iterable[Step]) -> None:
    """Rounds that stand there already stay as they are."""
    tx.executemany(
        "INSERT OR IGNORE INTO steps (run, round, model, text, note, prompt_tokens, reused_tokens,"
        " evaluated_tokens, generated_tokens, seconds, waiting_ms, prompt_ms, generating_ms, skill, arguments,"
        " result, note_ids, executing_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        [
            (
                run,
                step.round,
                step.completion.model,
                step.completion.text,
                step.note,
                step.completion.prompt_tokens,
                step.completion.reused_tokens,
                step.completion.evaluated_tokens,
                step.completion.generated_tokens,
                step.completion.seconds,
                step.completion.waiting_ms,
                step.completion.reuse_ms + step.completion.evaluate_ms,
                step.completion.generate_ms,
                step.skill,
                cut(step.arguments, PREVIEW_CHARS),
                cut(step.result, PREVIEW_CHARS),
                json.dumps(step.note_ids),
                step.executing_ms,
            )
            for step in steps
        ],
    )
