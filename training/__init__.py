"""Training on a cluster: ``training.openrlhf``, run from a checkout. On one machine, ``proof-r1 train`` uses TRL."""
