"""What people write: Gana, relay set and host settings, read strictly; key files."""
