"""Skills: files with instructions, which of them a Gana has, and what happens when the model calls one."""
