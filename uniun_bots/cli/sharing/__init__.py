"""What `skill` and `persona` have in common where they publish, look at and take back."""
