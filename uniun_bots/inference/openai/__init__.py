"""The engine that asks a model server over the OpenAI-compatible HTTP interface."""
