"""What OpenRLHF imports for ring attention."""
