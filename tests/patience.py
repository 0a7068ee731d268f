"""How long a test waits for something that a quick machine does at once."""

PATIENCE = 1_800.0
"""Seconds. Only a test that hangs takes so long, however busy the machine is."""
