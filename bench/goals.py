"""Every goal in one table: name of the value, the goal in full and with --quick, and which side of it is good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Goal:
    bench: str
    name: str
    unit: str
    at: Literal["least", "most"]
    full: float
    quick: float
    """Smaller data has more noise in it, and start-up costs weigh more."""

    def met(self, value: float, *, quick: bool) -> bool:
        goal = self.quick if quick else self.full
        return value >= goal if self.at == "least" else value <= goal


GOALS = (
    Goal("ingest", "ingest.rate_over_bare", "ratio", "least", 0.60, 0.50),
    Goal("ingest", "ingest.thousand_over_one.spread", "ratio", "least", 0.90, 0.75),
    Goal("ingest", "ingest.thousand_over_one.same", "ratio", "least", 0.90, 0.75),
    Goal("reaction", "reaction.event_to_request.p50_over_bare", "ms", "most", 5.0, 10.0),
    Goal("reaction", "reaction.event_to_request.p99", "ms", "most", 25.0, 50.0),
    Goal("reaction", "reaction.answer_to_ok.p50_over_bare", "ms", "most", 5.0, 10.0),
    Goal("reaction", "reaction.answer_to_ok.p99", "ms", "most", 25.0, 50.0),
    Goal("reaction", "reaction.replies_over_bare", "ratio", "least", 0.60, 0.50),
    Goal("host", "host.memory.idle", "MB", "most", 120.0, 120.0),
    Goal("host", "host.memory.thousand_ganas", "MB", "most", 200.0, 200.0),
    Goal("host", "host.start", "s", "most", 3.0, 3.0),
    Goal("preemption", "preemption.while_it_reads.p99", "ms", "most", 100.0, 250.0),
    Goal("preemption", "preemption.while_it_writes.p99", "ms", "most", 100.0, 250.0),
    Goal("preemption", "preemption.evaluated_again_beyond_a_slice", "ratio", "most", 0.05, 0.05),
    Goal("prefix_reuse", "prefix_reuse.evaluated_over_prompt", "ratio", "most", 1.1, 1.1),
    Goal("agent_rounds", "agent_rounds.overhead.p99", "ms", "most", 10.0, 25.0),
    Goal("agent_rounds", "agent_rounds.evaluated_over_prompt", "ratio", "most", 1.1, 1.1),
    Goal("agent_rounds", "agent_rounds.rounds_without_a_call", "rounds", "most", 0.0, 0.0),
    Goal("worker_crash", "worker_crash.neither_answer_nor_error", "jobs", "most", 0.0, 0.0),
    Goal("worker_crash", "worker_crash.host_memory_growth", "MB", "most", 5.0, 5.0),
    Goal("worker_crash", "worker_crash.serves_again.p50", "s", "most", 3.0, 6.0),
    Goal("scheduler", "scheduler.submit", "us", "most", 100.0, 100.0),
    Goal("scheduler", "scheduler.pick", "us", "most", 100.0, 100.0),
    Goal("scheduler", "scheduler.share_deviation.10", "ratio", "most", 0.02, 0.02),
    Goal("scheduler", "scheduler.share_deviation.40", "ratio", "most", 0.02, 0.02),
    Goal("scheduler", "scheduler.longest_wait.10", "rounds", "most", 1.0, 1.0),
    Goal("scheduler", "scheduler.longest_wait.40", "rounds", "most", 1.0, 1.0),
    Goal("search", "search.p95.unscoped", "ms", "most", 15.0, 15.0),
    Goal("search", "search.p95.scoped", "ms", "most", 15.0, 15.0),
    Goal("search", "search.p95.unscoped.million", "ms", "most", 60.0, 60.0),
    Goal("search", "search.p95.scoped.million", "ms", "most", 60.0, 60.0),
    Goal("search", "search.recall", "ratio", "least", 0.99, 0.99),
    Goal("retrieval_quality", "retrieval_quality.fused_ndcg", "ratio", "least", 0.41, 0.41),
    Goal("ingest", "ingest.embedder_resting", "ratio", "least", 0.85, 0.75),
)


def goal_of(name: str) -> Goal:
    return next(goal for goal in GOALS if goal.name == name)
