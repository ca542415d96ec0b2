from __future__ import annotations

from tests.stores import store as store
from tests.stores import tx as tx
