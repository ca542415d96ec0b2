"""The strings by which models tell turns, tools and thinking apart. One list, for both ways.

Out of a model they end or hide what it said (sanitize.py). Into a server that reads them wherever they
stand, a note must not carry them whole.
"""

from __future__ import annotations

import re

# ChatML, Llama 2 and 3, Gemma, Mistral, Phi, DeepSeek, Command R, GPT-OSS.
TURN_TOKENS = (
    r"<[|｜][A-Za-z_][\w▁/-]{0,40}[|｜]>|</?(?:start|end)_of_turn>|<(?:bos|eos)>|\[/?INST\]|<</?SYS>>"
)
# Alpaca, Vicuna: plain words at the start of a line.
TURN_HEADS = r"^### ?(?:Instruction|Response|Human|Assistant|User|Input) ?:"
TOOL_TAGS = (
    r"</?(?:[a-z_]+:)?(?:tool_calls?|function_calls?|tool_response|tools|invoke|function=[\w-]+)[\s>]"
    r"|\[TOOL_CALLS\]|\[/?TOOL_CALL\]|<[|｜](?:[\w▁]*tool[\w▁]*|python_tag|action_start)[|｜]>"
)
THINK_TAGS = r"<(/?)(?:think|thinking|thought|reasoning|reflection)>|\[(/?)THINK\]"
# What says nothing in an answer, yet is a token of its own in some vocabulary. Gemma 4 writes <|turn> and <turn|>,
# MiniMax ]~b] and [e~[, Exaone [|user|].
_OTHER_TOKENS = (
    r"<[|｜][^\s<>|｜]{1,64}[|｜]?>|<[^\s<>|｜]{1,64}[|｜]>|\[\|[^\s|\]]{1,40}\|\]"
    r"|</?(?:s|unk|pad|mask|sep|cls|sop|eop|image|audio|video|start_of_image|end_of_image)>"
    r"|<(?:unused|reserved_|extra_id_|SPECIAL_)\d{1,6}>|</?seed:[\w:]{1,40}>"
    r"|\[/?(?:AVAILABLE_TOOLS|TOOL_RESULTS|SYSTEM_PROMPT|MODEL_SETTINGS|ARGS|CALL_ID|PREFIX|MIDDLE|SUFFIX)\]"
    r"|\[(?:IMG|IMG_BREAK|IMG_END|BEGIN_AUDIO|AUDIO|gMASK|sMASK|MASK|CLS|SEP|PAD|UNK|BOS|EOS)\]"
    r"|\]~!?b\[|\]~b\]|\[e~\["
)
_ANY = re.compile(
    "|".join((TURN_TOKENS, TURN_HEADS, TOOL_TAGS, THINK_TAGS, _OTHER_TOKENS)), re.MULTILINE | re.IGNORECASE
)


def marks_in(text: str) -> list[tuple[int, str]]:
    """Index and words of each."""
    return [(mark.start(), mark[0]) for mark in _ANY.finditer(text)]


def break_apart(text: str) -> str:
    """The same text with a space inside every mark, where a person sees it and no tokenizer finds the mark."""
    while (broken := _ANY.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", text)) != text:
        text = broken
    return text
