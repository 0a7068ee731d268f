"""The verifier as an HTTP service: ``proof-r1 serve``, and a client of it.

One process talks HTTP (``app``), and :mod:`proof_r1_formal.workers` has others do what is asked (``desk``). The service
needs the extra ``serve``; the client, and the adapters in ``integrations`` that use it, need only the package.
"""
