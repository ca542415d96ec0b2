"""A child that sends events to a relay as fast as the socket takes them: `python -m bench.publisher URL FILE`.

It connects, prints `ready`, waits for a line, sends, prints `sent N` once the relay has answered all.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp


async def main(url: str, file: str) -> None:
    lines = (await asyncio.to_thread(Path(file).read_text)).splitlines()
    async with aiohttp.ClientSession() as session, session.ws_connect(url, max_msg_size=0) as socket:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)

        async def answers() -> int:
            taken = 0
            while taken < len(lines):
                message = await socket.receive(timeout=30)
                if message.type is not aiohttp.WSMsgType.TEXT:
                    break
                taken += message.data.startswith('["OK"')
            return taken

        reading = asyncio.create_task(answers())
        for line in lines:
            await socket.send_str(f'["EVENT",{line}]')
        print(f"sent {await reading}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
