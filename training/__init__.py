"""Training on a cluster: ``training.openrlhf``, run from a checkout. On one machine, ``proof-r1 train`` uses TRL.

Other trainers are in ``proof_r1_formal.integrations``, and the method itself in ``proof_r1_formal.credit``.
"""
