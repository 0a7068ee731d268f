"""The verifier as an HTTP service: ``proof-r1 serve``, and a client of it.

One process talks HTTP (``app``) and hands what is asked to others that do it (``pool``, ``desk``). The service needs
the extra ``serve``; the client, and the adapters in ``integrations`` that use it, need only the package.
"""
