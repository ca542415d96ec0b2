"""How reliably a model does agentic work: situations with a known right answer, played on it and counted."""
