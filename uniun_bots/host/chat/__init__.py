"""Where the owner's chat is answered: in the running host, or under a lease of its own."""
