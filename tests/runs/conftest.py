from __future__ import annotations

from tests.stores import store as store
