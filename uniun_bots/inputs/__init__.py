"""What a run answers: turns, cursors, guards, budgets, and the rows of what was decided."""
