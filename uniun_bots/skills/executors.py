"""Carry out a call. Nothing here sends, signs or chooses a destination."""

from __future__ import annotations

from uniun_bots.skills.arguments import About, OfNote, OfThread, Page, Post, Query, RemindMe, ShareExternal
from uniun_bots.skills.asking import ask_owner
from uniun_bots.skills.call import Call
from uniun_bots.skills.catalogue import Role
from uniun_bots.skills.deciding import publish
from uniun_bots.skills.effect import Answer, Effect, Silence
from uniun_bots.skills.knowing import expand_graph, get_memories, read_note, search_notes
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.reading import read_input, read_thread
from uniun_bots.skills.shown_notes import fault


async def execute(call: Call, reach: Reach) -> Effect:
    """By role, and by the type of the arguments, which `read_call` has made sure of."""
    name, role = call.skill.name, call.skill.role
    match call.arguments:
        case _ if role is Role.TEXT:
            return Answer(call.skill.skill.text)
        case _ if role is Role.SILENCE:
            return Silence()
        case Post() as post:
            return await publish(post, reach)
        case RemindMe() | ShareExternal() as wish:
            return await ask_owner(wish, reach)
        case Page() as page:
            return await read_input(page, reach)
        case OfThread() as around:
            return await read_thread(around, reach)
        case Query() as query:
            return await search_notes(query, reach)
        case About() as about:
            return await get_memories(about, reach)
        case OfNote() as one if name == "expand-graph":
            return await expand_graph(one, reach)
        case OfNote() as one:
            return await read_note(one, reach)
    return fault(f"{name} cannot be used here")
