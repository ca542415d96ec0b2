"""What waits for a person: unsigned drafts of Ganas in mode `approve`, and what device skills propose."""
