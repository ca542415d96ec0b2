"""Where the questions of one chat go: to the host that runs, or else to a model of our own. Decided for each anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from uniun_bots.chat.answer import Answer
from uniun_bots.chat.question import Question
from uniun_bots.chat.telling import Tell
from uniun_bots.database.store import FILE
from uniun_bots.errors import HostRunning, NoHost, NotFound, UniunError
from uniun_bots.host.chat.alone import Alone
from uniun_bots.host.chat.through_host import ask_through_host
from uniun_bots.host.lease import holder
from uniun_bots.inference.engine import Engine
from uniun_bots.personas.coherence_of_settings import is_engine_name
from uniun_bots.personas.settings import DEFAULT_ENGINE, HostSettings


class ChatSession:
    def __init__(
        self,
        folder: Path,
        settings: HostSettings,
        environ: Mapping[str, str],
        *,
        model: str | None = None,
        engines: Mapping[str, Engine] | None = None,
    ) -> None:
        """`model`: the name of an engine of host.yaml, or a model as host.yaml names one.

        Raises NotFound when nothing was ever run in this folder.
        """
        self._data_dir = settings.data_folder(folder)
        file = self._data_dir / FILE
        if not file.exists():
            raise NotFound(f"{file} does not exist yet: nothing has run here (`uniun-bots run`)")
        self._own_model = model if model and not is_engine_name(model) else None
        self.engine = model if model and is_engine_name(model) else DEFAULT_ENGINE
        if self._own_model:
            settings = settings.model_copy(update={"model": self._own_model})
        self._alone = Alone(folder, file, settings, environ, engines)

    async def ask(self, question: Question, tell: Tell) -> Answer:
        """Raises HostLost, and what Shiv raises."""
        while True:
            try:
                return await self._alone.ask(question, tell)
            except HostRunning:
                # Whoever runs has the model in memory already.
                await self._alone.aclose()
            self._refuse_own_model()
            try:
                return await ask_through_host(self._data_dir, question, tell)
            except NoHost:
                if holder(self._data_dir) is not None:
                    raise

    async def aclose(self) -> None:
        await self._alone.aclose()

    def _refuse_own_model(self) -> None:
        if self._own_model:
            raise UniunError(
                f"a host runs here, and chats with its own models: name one of `engines` instead of"
                f" {self._own_model}, or change its model with `uniun-bots model use`"
            )
