"""Send JSON to a webhook, once."""

from __future__ import annotations

import aiohttp

from uniun_bots.errors import UniunError

TIMEOUT_S = 10.0


class NotTaken(UniunError):
    """The webhook did not take it, or did not say so."""


async def post(url: str, body: dict[str, object], once: str) -> str:
    """What it said. `once`: the same for the same thing, for receivers that want to be sure. Raises NotTaken.

    The address may be a secret: it is in no message.
    """
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as http,
            http.post(url, json=body, headers={"Idempotency-Key": once}, allow_redirects=False) as answer,
        ):
            if answer.status >= 300:
                raise NotTaken(f"the webhook said {answer.status}")
            return f"the webhook said {answer.status}"
    except TimeoutError:
        raise NotTaken(f"the webhook did not answer within {TIMEOUT_S:.0f} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as fault:
        raise NotTaken(f"the webhook could not be reached ({type(fault).__name__})") from None
