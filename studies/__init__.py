"""What produced the published numbers: studies and their data. It is in the repository, and not in the wheel."""
