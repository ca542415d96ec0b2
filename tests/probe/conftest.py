from __future__ import annotations

from tests.stores import tx as tx
