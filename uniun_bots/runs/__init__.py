"""How a run comes to its Outcome: one-shot for now, and the text gate."""
