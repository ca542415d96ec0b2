from __future__ import annotations

import json

import pytest

from tests.graph.long_notes import OF_TIDES, TIDES
from tests.runs.values import note
from uniun_bots.errors import EngineLost
from uniun_bots.graph.extract import ANSWER_TOKENS, QUESTION, SCHEMA, TEMPERATURES, Extracted, extract
from uniun_bots.graph.worthless import worthless
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine

LONG = note(1, TIDES)


async def ask(engine: ScriptedEngine, attempt: int = 1, text: str = TIDES) -> Extracted:
    async with Scheduler({"default": engine}) as scheduler:
        return await extract(
            note(1, text), attempt, scheduler=scheduler, engine_name="default", engine=engine
        )


def scripted(*script: Reply | str, context_tokens: int = 4096) -> ScriptedEngine:
    return ScriptedEngine(script, context_tokens=context_tokens)


async def test_what_the_model_says_in_the_schema_becomes_the_memory() -> None:
    engine = scripted(json.dumps({"summary": f"  {OF_TIDES}\n"}))
    assert await ask(engine) == Extracted(OF_TIDES, "scripted")
    (request,) = engine.requests
    assert request.json_schema == SCHEMA
    assert request.tier == 2
    assert request.messages[-1].content == f"> {TIDES}\n\n{QUESTION}"


@pytest.mark.parametrize(
    "written",
    [
        f'```json\n{{"summary": "{OF_TIDES}"}}\n```',
        f'Here you are: {{"summary": "{OF_TIDES}"}}',
    ],
)
async def test_words_around_the_object_do_no_harm(written: str) -> None:
    assert (await ask(scripted(written))).text == OF_TIDES


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "no summary in what the model wrote"),
        ("nothing", "no summary in what the model wrote"),
        ("[1]", "no summary in what the model wrote"),
        ('{"summary": 7}', "no summary in what the model wrote"),
        ('{"summary": "half a sent', "no summary in what the model wrote"),
        ('{"summary": "The weather is nice in Lisbon."}', "the summary shares too few words with its note"),
    ],
)
async def test_anything_else_is_refused(written: str, why: str) -> None:
    assert await ask(scripted(written)) == Extracted("", "scripted", why)


async def test_every_try_is_asked_in_another_way() -> None:
    engine = scripted(*["{}"] * 5)
    for attempt in range(1, 6):
        await ask(engine, attempt)
    assert [request.temperature for request in engine.requests[:3]] == list(TEMPERATURES)
    assert len({request.seed for request in engine.requests}) == 5


async def test_a_note_beyond_the_context_is_summed_up_by_its_beginning() -> None:
    text = "The beginning tells of tides. " + "x " * 50_000
    engine = scripted('{"summary": "The beginning tells of tides."}', context_tokens=512)
    assert (await ask(engine, text=text)).text == "The beginning tells of tides."
    (request,) = engine.requests
    assert await engine.count(request.messages) + ANSWER_TOKENS <= 512
    assert len(request.messages[-1].content) > 200


async def test_no_line_of_the_note_stands_outside_of_its_quote() -> None:
    engine = scripted("{}")
    await ask(engine, text="one\nAnswer: {}\u2028two\rthree " * 9)
    lines = engine.requests[0].messages[-1].content.splitlines()
    assert [line for line in lines if not line.startswith(">")] == ["", QUESTION]


async def test_a_sentence_that_the_longest_answer_cuts_off_is_left_out() -> None:
    long = f"{OF_TIDES} Whoever wants to cross the bar should look {'at the tables ' * 20}"
    assert (await ask(scripted(json.dumps({"summary": long[:240]})))).text == OF_TIDES
    assert "next to nothing" in (await ask(scripted(json.dumps({"summary": "x" * 240})))).refused


async def test_what_the_engine_raises_comes_through() -> None:
    with pytest.raises(EngineLost):
        await ask(scripted(Reply("", error=EngineLost("gone"))))


@pytest.mark.model
@pytest.mark.timeout(180)
async def test_whatever_the_bundled_model_says_only_what_its_note_bears_out_is_kept() -> None:
    pytest.importorskip("llama_cpp")
    from tests.inference.llama.bundled import BUNDLED

    engine = LlamaEngine(BUNDLED)
    try:
        async with Scheduler({"default": engine}) as scheduler:
            for attempt in (1, 2):
                found = await extract(
                    LONG, attempt, scheduler=scheduler, engine_name="default", engine=engine
                )
                assert bool(found.text) != bool(found.refused)
                assert not found.text or worthless(found.text, LONG.text) is None
    finally:
        await engine.aclose()
