"""Which inference runs next on one seat, and which one gives way. Pure: no tasks, and no clock of its own."""
