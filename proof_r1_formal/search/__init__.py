"""Search for proof terms. Nothing here is trusted: the proof checker accepts what is found, or it does not count."""
