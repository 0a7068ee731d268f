"""What verdicts on completions say about a model: scores, their estimates, and tables and pictures of numbers."""
