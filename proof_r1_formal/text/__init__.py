"""Text to formulas and back: notations, the check for two readings, repair, printing."""
