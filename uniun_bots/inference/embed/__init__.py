"""Embedders: texts become vectors whose nearness is nearness of meaning. Beside the scheduler, never through it."""
