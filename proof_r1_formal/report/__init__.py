"""Verified traces for readers: an HTML page, and a bundle of evidence that one small program re-checks."""
