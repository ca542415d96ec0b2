"""For tests of your own personas: `pytest_plugins = ["uniun_bots.testing"]` in conftest.py gives the fixture `persona`.

docs/test-your-personas.md shows it at work.
"""

from uniun_bots.testing.call import call
from uniun_bots.testing.on_stage import Persona
from uniun_bots.testing.plugin import OpenPersona, persona, persona_project

__all__ = ["OpenPersona", "Persona", "call", "persona", "persona_project"]
