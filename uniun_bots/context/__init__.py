"""What the model is shown: ancestry, quoted input, a token budget that never overflows."""
