"""A pretrained model learns to prove: SmolLM2-135M, from a package of PyPI, on problems in English with formulas."""
