"""How good search is: nDCG@10, recall@5 and recall@10 on the Cranfield collection, by words, by meaning, and fused.

`--data DIR` holds `cran.all.1400`, `cran.qry` and `cranqrel`. A document is its title and its text; every judged
grade from 1 to 4 counts as relevant. With --quick the first 150 documents and the questions about them.
"""

from __future__ import annotations

import asyncio
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from bench.library import embed_all, keep_all, note_of
from bench.report import arguments, report
from uniun_bots.database.store import Store
from uniun_bots.graph.by_words import by_words
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import DEPTH, search
from uniun_bots.graph.vectors import Vectors
from uniun_bots.inference.embed.local import LocalEmbedder

EVERYTHING = Scope(everything=True)
QUICK = 150
Search = Callable[[str], Awaitable[Sequence[int]]]
Judged = Mapping[int, frozenset[int]]


def documents(data: Path) -> list[str]:
    records = re.split(r"^\.I \d+\n", (data / "cran.all.1400").read_text(), flags=re.MULTILINE)[1:]
    return [f"{_field(record, 'T')}\n{_field(record, 'W')}" for record in records]


def _field(record: str, name: str) -> str:
    found = re.search(rf"^\.{name}\n(.*?)(?=^\.[TABW]\n|\Z)", record, re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def questions(data: Path) -> list[str]:
    records = re.split(r"^\.I \d+\n", (data / "cran.qry").read_text(), flags=re.MULTILINE)[1:]
    return [_field(record, "W") for record in records]


def judgements(data: Path, upto: int) -> Judged:
    """By the place of a question: the numbers of relevant documents."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for line in (data / "cranqrel").read_text().splitlines():
        question, document, grade = map(int, line.split()[:3])
        if 1 <= grade <= 4 and document <= upto:
            found[question].add(document)
    return {question: frozenset(relevant) for question, relevant in found.items()}


def ndcg(ranked: Sequence[int], relevant: frozenset[int], places: int = 10) -> float:
    gained = sum(1 / math.log2(place + 2) for place, one in enumerate(ranked[:places]) if one in relevant)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(places, len(relevant))))


async def measure(search_by: Search, asked: Sequence[str], judged: Judged) -> dict[str, float]:
    found = {place: await search_by(asked[place - 1]) for place in judged}

    def mean(score: Callable[[Sequence[int], frozenset[int]], float]) -> float:
        return round(sum(score(found[place], judged[place]) for place in judged) / len(judged), 4)

    return {
        "ndcg@10": mean(ndcg),
        "recall@5": mean(lambda ranked, relevant: len(relevant & set(ranked[:5])) / len(relevant)),
        "recall@10": mean(lambda ranked, relevant: len(relevant & set(ranked[:10])) / len(relevant)),
    }


async def compare(data: Path, quick: bool) -> dict[str, dict[str, float]]:
    texts, asked = documents(data), questions(data)
    texts = texts[:QUICK] if quick else texts
    judged = judgements(data, len(texts))
    with tempfile.TemporaryDirectory() as folder:
        async with Store(Path(folder) / "graph.sqlite") as store:
            embedder = LocalEmbedder(models=Path(folder))
            vectors = Vectors(store, embedder, patience_s=60)
            await keep_all(store, (note_of(number, text) for number, text in enumerate(texts, 1)))
            await embed_all(store, embedder)

            async def words(question: str) -> Sequence[int]:
                return await store.read(lambda tx: by_words(tx, question, EVERYTHING, DEPTH))

            async def meaning(question: str) -> Sequence[int]:
                index = await vectors.index()
                near = await vectors.near(index, question, EVERYTHING, DEPTH) if index else []
                return [one.seq for one in near]

            async def fused(question: str) -> Sequence[int]:
                return [hit.note.seq for hit in await search(store, vectors, question, EVERYTHING, 10)]

            ways = {"words": words, "meaning": meaning, "fused": fused}
            scores = {name: await measure(way, asked, judged) for name, way in ways.items()}
            await vectors.aclose()
    return scores | {"questions": {"judged": len(judged)}}


def main() -> None:
    given = arguments(__doc__, data=True)
    scores = asyncio.run(compare(given.data, given.quick))
    count = int(scores.pop("questions")["judged"])
    report("retrieval_quality.fused_ndcg", scores["fused"]["ndcg@10"], count, scores, quick=given.quick)


if __name__ == "__main__":
    main()
