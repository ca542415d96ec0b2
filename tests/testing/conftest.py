from __future__ import annotations

from uniun_bots.testing import persona as persona
from uniun_bots.testing import persona_project as persona_project
