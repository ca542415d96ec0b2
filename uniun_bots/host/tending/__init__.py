"""What a host does besides answering: embedding, memories, reminders, retention, profiles, installed skills."""
