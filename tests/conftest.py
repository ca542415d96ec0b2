from __future__ import annotations

import signal

# A shell without job control starts what ends in `&` with SIGINT ignored, and children inherit that:
# the tests that press Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
