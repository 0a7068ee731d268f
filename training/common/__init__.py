"""What both engines share: prompts and their order, verification, records, evaluation, and where a run starts."""
