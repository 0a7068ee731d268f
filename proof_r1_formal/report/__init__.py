"""Reports of verified traces: an HTML page, and a bundle of evidence that one small program rechecks."""
