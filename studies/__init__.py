"""The code behind the published numbers: studies and their data. It is in the repository, and not in the wheel."""
