% Peirce's law.
fof(peirce, conjecture, ((p => q) => p) => p).
