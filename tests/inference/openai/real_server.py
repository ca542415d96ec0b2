"""llama_cpp.server, as it comes, in a process of its own: `python -m tests.inference.openai.real_server --model …`"""

from __future__ import annotations

import llama_cpp.llama_cpp
from llama_cpp.server.__main__ import main

_defaults = llama_cpp.llama_cpp.llama_model_default_params


def _plain() -> object:
    """Without the weight layouts that die of SIGILL on some virtual machines; the server has no option for it."""
    params = _defaults()
    params.use_extra_bufts = False
    return params


if __name__ == "__main__":
    llama_cpp.llama_cpp.llama_model_default_params = _plain
    main()  # type: ignore[no-untyped-call]
