"""From a body to finished bytes, and from the outbox to each relay's OK."""
