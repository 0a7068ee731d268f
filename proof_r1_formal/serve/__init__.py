"""The verifier as an HTTP service: ``proof-r1 serve``, and a client of it.

One process talks HTTP (``app``) and hands what is asked to others that do it (``pool``, ``worker``). Nothing here is
imported by the rest of the package; the service needs the extra ``serve``, the client only the standard library.
"""
