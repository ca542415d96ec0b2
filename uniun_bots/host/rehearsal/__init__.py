"""A host on recorded events and a clock that is moved by hand."""
