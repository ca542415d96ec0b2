"""The only door to models: the engine contract, its engines, the scheduler, the sanitizer."""
