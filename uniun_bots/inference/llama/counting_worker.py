"""The process that counts tokens: the vocabulary of one model and nothing else. Started as `python -m`.

It has a pipe of its own, so that a cancel never stands behind a count, and a count never needs the model in memory.
"""

from __future__ import annotations

from uniun_bots.errors import EngineError
from uniun_bots.inference.llama.opened import Opened
from uniun_bots.inference.llama.pipe import Pipe, failure, open_pipe
from uniun_bots.inference.llama.protocol import Count, Counted, FromWorker, Loaded
from uniun_bots.inference.llama.vocabulary import Vocabulary


def run(pipe: Pipe) -> None:
    load = pipe.load()
    try:
        opened = Opened(load, vocabulary_only=True)
        vocabulary = Vocabulary(opened.model)
    except EngineError as error:
        pipe.say(failure(load.id, error))
        return
    pipe.say(Loaded(opened.context_tokens))
    for message in pipe.asked():
        if isinstance(message, Count):
            pipe.say(_answer(vocabulary, message))


def _answer(vocabulary: Vocabulary, asked: Count) -> FromWorker:
    try:
        return Counted(asked.id, vocabulary.count(asked.messages))
    except Exception as error:
        # Whatever went wrong in Python ends this count only.
        return failure(asked.id, error)


if __name__ == "__main__":
    run(open_pipe())
