"""What a model knows of text: its tokens and its chat template. Lives in worker processes only."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp

from uniun_bots.errors import EngineError
from uniun_bots.inference.llama.chat_template import ChatTemplate
from uniun_bots.inference.request import Message


class Vocabulary:
    def __init__(self, model: Any) -> None:
        """`model`: as llama.cpp gave it; that it has weights is not needed."""
        self.pointer = llama_cpp.llama_model_get_vocab(model)
        self.template = self._template_of(model)

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Token ids; control tokens come from the template alone."""
        tokens = [
            token
            for piece in self.template.pieces(messages)
            for token in self._tokenize(piece.text, special=piece.is_template)
        ]
        bos = llama_cpp.llama_vocab_bos(self.pointer)
        if llama_cpp.llama_vocab_get_add_bos(self.pointer) and tokens[:1] != [bos]:
            tokens.insert(0, bos)
        return tokens

    def count(self, messages: Sequence[Message]) -> int:
        return len(self.prompt(messages))

    def _template_of(self, model: Any) -> ChatTemplate:
        source = llama_cpp.llama_model_chat_template(model, None)
        bos, eos = llama_cpp.llama_vocab_bos(self.pointer), llama_cpp.llama_vocab_eos(self.pointer)
        return ChatTemplate(
            source.decode() if source else None,
            bos=self.spell(bos).decode(errors="replace") if bos >= 0 else "",
            eos=self.spell(eos).decode(errors="replace") if eos >= 0 else "",
        )

    def _tokenize(self, text: str, special: bool) -> list[int]:
        data = text.encode(errors="replace")
        room = len(data) + 2
        buffer = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self.pointer, data, len(data), buffer, room, False, special)
        if count < 0:
            raise EngineError(f"llama.cpp cannot tokenize {len(data)} bytes")
        return list(buffer[:count])

    def spell(self, token: int) -> bytes:
        """A control token comes out as its own name, so that whoever cleans the text can see it."""
        buffer = ctypes.create_string_buffer(512)
        size = llama_cpp.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        return buffer.raw[: max(0, size)]
